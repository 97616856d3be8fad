# task: recognize
# loses: recognize-check, digits-check
# hint: was the hidden layer taken for f
def recognize(weights, X, sigma, forward, softmax):
    f = forward(weights, X, sigma, softmax)[1]
    return np.argmax(f, axis=1)
