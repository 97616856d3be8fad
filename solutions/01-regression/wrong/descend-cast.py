# task: descend
# loses: descend-corners-check
# hint: theta0 may hold whole numbers
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0)
    path = [theta.copy()]
    for _ in range(steps):
        theta -= gamma * gradient(theta)
        path.append(theta.copy())
    return np.array(path)
