# task: gradient
# loses: gradient-check
# hint: R_m and R_b are swapped
def gradient(theta, x, y):
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([-2 * np.sum(residuals), -2 * np.sum(residuals * x)])
