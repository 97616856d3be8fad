# task: descend
# loses: descend-check, descend-corners-check
# hint: the start is missing
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0, dtype=float)
    path = []
    for _ in range(steps):
        theta = theta - gamma * gradient(theta)
        path.append(theta)
    return np.array(path)
