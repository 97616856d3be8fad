# task: noise
# loses: noise-check
# hint: averaged before squaring
def noise(gradient, theta, X, y, pieces):

    whole = gradient(theta, X, y)
    return np.linalg.norm(np.mean([gradient(theta, X[piece], y[piece]) - whole for piece in pieces], axis=0))
