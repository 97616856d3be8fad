# task: recognize
# loses: recognize-check, digits-check
# hint: must begin with `return`
def recognize(weights, X, sigma, forward, softmax):
    f = forward(weights, X, sigma, softmax)[3]
    np.argmax(f, axis=1)
