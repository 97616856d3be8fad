# task: sgd
# loses: sgd-check
# hint: Is `return` in the loop
def sgd(gradient, X, y, theta0, gamma, order):
    path = [theta0]
    for i in order:
        path.append(path[-1] - gamma * gradient(path[-1], X[[i]], y[[i]]))
        return np.array(path)
