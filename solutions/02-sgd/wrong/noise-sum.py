# task: noise
# loses: noise-check
# hint: Average them
def noise(gradient, theta, X, y, pieces):

    whole = gradient(theta, X, y)
    return np.linalg.norm([gradient(theta, X[piece], y[piece]) - whole for piece in pieces])
