# task: descend
# loses: descend-check, descend-corners-check
# hint: only the last θ
def descend(gradient, theta0, gamma, steps):
    theta = np.array(theta0, dtype=float)
    for _ in range(steps):
        theta = theta - gamma * gradient(theta)
    return theta
