# task: gradient
# loses: gradient-check
# hint: the factor 2 of the square's derivative
def gradient(theta, x, y):
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([-np.sum(residuals * x), -np.sum(residuals)])
