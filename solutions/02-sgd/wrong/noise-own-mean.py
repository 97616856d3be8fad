# task: noise
# loses: noise-check
# hint: distances from the mean of the pieces
def noise(gradient, theta, X, y, pieces):

    gradients = np.array([gradient(theta, X[piece], y[piece]) for piece in pieces])
    return np.sqrt(np.sum(np.var(gradients, axis=0)))
