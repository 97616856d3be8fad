# task: noise
# loses: noise-check
# hint: Subtract the gradient of all examples first
def noise(gradient, theta, X, y, pieces):

    return np.sqrt(np.mean([np.sum(gradient(theta, X[piece], y[piece]) ** 2) for piece in pieces]))
