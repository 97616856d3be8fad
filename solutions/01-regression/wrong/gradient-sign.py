# task: gradient
# loses: gradient-check
# hint: with respect to m is -x, and with respect to b
def gradient(theta, x, y):
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([2 * np.sum(residuals * x), 2 * np.sum(residuals)])
