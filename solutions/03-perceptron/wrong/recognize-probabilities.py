# task: recognize
# loses: recognize-check, digits-check
# hint: give their places
def recognize(weights, X, sigma, forward, softmax):
    f = forward(weights, X, sigma, softmax)[3]
    return np.max(f, axis=1)
