# task: gradient
# loses: gradient-check
# hint: the sign is wrong, and the factor 2
def gradient(theta, x, y):
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([np.sum(residuals * x), np.sum(residuals)])
