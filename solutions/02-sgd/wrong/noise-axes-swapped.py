# task: noise
# loses: noise-check
# hint: the other way round
def noise(gradient, theta, X, y, pieces):
    away = np.array([gradient(theta, X[piece], y[piece]) for piece in pieces]) - gradient(theta, X, y)
    return np.sqrt(np.mean(np.sum(away**2, axis=0)))
