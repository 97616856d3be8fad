# task: sgd
def sgd(gradient, X, y, theta0, gamma, order):
    theta, path = theta0, [theta0]
    for x_i, y_i in zip(X[order], y[order], strict=True):
        theta = theta - gamma * gradient(theta, x_i.reshape(1, -1), np.array([y_i]))
        path.append(theta)
    return path
