# task: descend
# loses: descend-check, descend-corners-check
# hint: gradient of the start again
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0, dtype=float)
    path = [theta]
    g = gradient(theta)
    for _ in range(steps):
        theta = theta - gamma * g
        path.append(theta)
    return np.array(path)
