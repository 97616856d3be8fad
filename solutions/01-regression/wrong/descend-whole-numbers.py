# task: descend
# loses: descend-corners-check
# hint: theta0 may hold whole numbers
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0)
    path = np.zeros((steps + 1, len(theta)), dtype=theta.dtype)
    path[0] = theta
    for t in range(steps):
        path[t + 1] = path[t] - gamma * gradient(path[t])
    return path
