# task: noise
def noise(gradient, theta, X, y, pieces):

    whole = gradient(theta, X, y)
    total = 0.0
    for piece in pieces:
        total += np.linalg.norm(gradient(theta, X[piece], y[piece]) - whole) ** 2
    return (total / len(pieces)) ** 0.5
