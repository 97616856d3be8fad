# task: descend
# loses: descend-check, descend-corners-check
# hint: one step is missing
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0, dtype=float)
    path = [theta]
    for _ in range(steps - 1):
        theta = theta - gamma * gradient(theta)
        path.append(theta)
    return np.array(path)
