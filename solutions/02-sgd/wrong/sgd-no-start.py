# task: sgd
# loses: sgd-check
# hint: begins with theta0 itself
def sgd(gradient, X, y, theta0, gamma, order):
    theta, path = theta0, []
    for i in order:
        theta = theta - gamma * gradient(theta, X[[i]], y[[i]])
        path.append(theta)
    return np.array(path)
