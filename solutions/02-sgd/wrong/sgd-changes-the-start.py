# task: sgd
# loses: sgd-check
# hint: changes `theta0`
def sgd(gradient, X, y, theta0, gamma, order):
    path = [theta0.copy()]
    for i in order:
        theta0 -= gamma * gradient(theta0, X[[i]], y[[i]])
        path.append(theta0.copy())
    return np.array(path)
