# task: sgd
# loses: sgd-check
# hint: got 3 examples in one step
def sgd(gradient, X, y, theta0, gamma, order):
    path = [theta0]
    for _ in order:
        path.append(path[-1] - gamma * gradient(path[-1], X, y))
    return np.array(path)
