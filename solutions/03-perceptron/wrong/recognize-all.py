# task: recognize
# loses: recognize-check, digits-check
# hint: one number came back
def recognize(weights, X, sigma, forward, softmax):
    f = forward(weights, X, sigma, softmax)[3]
    return np.argmax(f)
