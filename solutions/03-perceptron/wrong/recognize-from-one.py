# task: recognize
# loses: recognize-check, digits-check
# hint: classes count from 0
def recognize(weights, X, sigma, forward, softmax):
    f = forward(weights, X, sigma, softmax)[3]
    return np.argmax(f, axis=1) + 1
