# task: sgd
# loses: sgd-check
# hint: X and y came from different examples
def sgd(gradient, X, y, theta0, gamma, order):
    path = [theta0]
    for t, i in enumerate(order):
        path.append(path[-1] - gamma * gradient(path[-1], X[[i]], y[[t]]))
    return np.array(path)
