# task: descend
# loses: descend-check
# hint: changes `theta0`
def descend(gradient, theta0, gamma, steps):
    path = [np.array(theta0, dtype=float)]
    for _ in range(steps):
        theta0 -= gamma * gradient(theta0)
        path.append(np.array(theta0))
    return np.array(path)
