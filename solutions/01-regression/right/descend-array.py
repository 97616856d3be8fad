# task: descend
def descend(gradient, theta0, gamma, steps):
    path = np.empty((steps + 1, len(theta0)))
    path[0] = theta0
    for t in range(steps):
        path[t + 1] = path[t] - gamma * gradient(path[t])
    return path
