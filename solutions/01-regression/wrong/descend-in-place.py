# task: descend
# loses: descend-check, descend-corners-check
# hint: one array three times
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0, dtype=float)
    path = [theta]
    for _ in range(steps):
        theta -= gamma * gradient(theta)
        path.append(theta)
    return np.array(path)
