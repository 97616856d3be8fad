# task: gradient
# loses: gradient-check
# hint: two things are wrong: the sign
def gradient(theta, x, y):
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([np.sum(residuals * x), np.sum(residuals)])
