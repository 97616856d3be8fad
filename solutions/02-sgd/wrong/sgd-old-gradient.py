# task: sgd
# loses: sgd-check
# hint: Compute each at the newest theta
def sgd(gradient, X, y, theta0, gamma, order):
    path = [theta0]
    for i in order:
        path.append(path[-1] - gamma * gradient(theta0, X[[i]], y[[i]]))
    return np.array(path)
