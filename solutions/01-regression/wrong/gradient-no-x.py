# task: gradient
# loses: gradient-check
# hint: R_m lacks its x
def gradient(theta, x, y):
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([-2 * np.sum(residuals), -2 * np.sum(residuals)])
