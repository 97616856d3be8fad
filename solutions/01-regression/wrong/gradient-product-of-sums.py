# task: gradient
# loses: gradient-check
# hint: you multiplied two sums
def gradient(theta, x, y):
    m, b = theta
    residuals = y - (m * x + b)
    return np.array([-2 * np.sum(residuals) * np.sum(x), -2 * np.sum(residuals)])
