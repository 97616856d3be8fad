# task: sgd
# loses: sgd-check
# hint: changes one array again and again
def sgd(gradient, X, y, theta0, gamma, order):
    theta = theta0.copy()
    path = [theta]
    for i in order:
        theta -= gamma * gradient(theta, X[[i]], y[[i]])
        path.append(theta)
    return np.array(path)
