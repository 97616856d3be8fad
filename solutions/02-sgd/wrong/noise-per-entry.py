# task: noise
# loses: noise-check
# hint: Sum over entries, average over pieces
def noise(gradient, theta, X, y, pieces):

    whole = gradient(theta, X, y)
    gradients = np.array([gradient(theta, X[piece], y[piece]) for piece in pieces])
    return np.sqrt(np.mean((gradients - whole) ** 2))
