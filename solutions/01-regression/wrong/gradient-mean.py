# task: gradient
# loses: gradient-check
# hint: so its gradient is a sum
def gradient(theta, x, y):
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([-2 * np.mean(residuals * x), -2 * np.mean(residuals)])
