# task: recognize
# loses: recognize-check, digits-check
# hint: the least probable
def recognize(weights, X, sigma, forward, softmax):
    f = forward(weights, X, sigma, softmax)[3]
    return np.argmin(f, axis=1)
