# task: descend
# loses: descend-check, descend-corners-check
# hint: any number of parameters
def descend(gradient, theta0, gamma, steps):
    path = np.zeros((steps + 1, 2))
    path[0] = theta0
    for t in range(steps):
        path[t + 1] = path[t] - gamma * gradient(path[t])
    return path
