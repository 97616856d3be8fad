# task: descend
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0, dtype=float)
    path = [theta.copy()]
    while len(path) <= steps:
        theta -= gamma * gradient(theta)
        path.append(theta.copy())
    return path
