# task: noise
# loses: noise-check
# hint: the root is missing
def noise(gradient, theta, X, y, pieces):

    whole = gradient(theta, X, y)
    return np.mean([np.sum((gradient(theta, X[piece], y[piece]) - whole) ** 2) for piece in pieces])
