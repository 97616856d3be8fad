# task: sgd
# loses: sgd-check
# hint: in the order 0, 1, 2 of the data
def sgd(gradient, X, y, theta0, gamma, order):
    path = [theta0]
    for i in range(len(y)):
        path.append(path[-1] - gamma * gradient(path[-1], X[[i]], y[[i]]))
    return np.array(path)
