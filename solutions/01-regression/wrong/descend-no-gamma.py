# task: descend
# loses: descend-check, descend-corners-check
# hint: the step lacks γ
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0, dtype=float)
    path = [theta]
    for _ in range(steps):
        theta = theta - gradient(theta)
        path.append(theta)
    return np.array(path)
