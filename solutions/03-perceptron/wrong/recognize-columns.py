# task: recognize
# loses: recognize-check, digits-check
# hint: axis=0 goes down the columns
def recognize(weights, X, sigma, forward, softmax):
    f = forward(weights, X, sigma, softmax)[3]
    return np.argmax(f, axis=0)
