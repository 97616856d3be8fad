# task: gradient
# loses: gradient-check
# hint: Add over all i
def gradient(theta, x, y):
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([-2 * residuals * x, -2 * residuals])
