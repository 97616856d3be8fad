# task: sgd
def sgd(gradient, X, y, theta0, gamma, order):
    theta = np.array(theta0, dtype=float)
    path = np.empty((len(order) + 1, len(theta)))
    path[0] = theta
    for t, i in enumerate(order):
        theta -= gamma * gradient(theta, X[i : i + 1], y[i : i + 1])
        path[t + 1] = theta
    return path
