# task: gradient
# loses: gradient-check
# hint: The brackets matter
def gradient(theta, x, y):
    m, b = theta
    residuals = y - m * x + b
    return np.array([-2 * np.sum(residuals * x), -2 * np.sum(residuals)])
