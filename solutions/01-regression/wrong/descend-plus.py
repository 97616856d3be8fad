# task: descend
# loses: descend-check, descend-corners-check
# hint: your step leads uphill
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0, dtype=float)
    path = [theta]
    for _ in range(steps):
        theta = theta + gamma * gradient(theta)
        path.append(theta)
    return np.array(path)
