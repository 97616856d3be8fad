# task: sgd
# loses: sgd-check
# hint: you returned only one theta
def sgd(gradient, X, y, theta0, gamma, order):
    theta = theta0
    for i in order:
        theta = theta - gamma * gradient(theta, X[[i]], y[[i]])
    return theta
