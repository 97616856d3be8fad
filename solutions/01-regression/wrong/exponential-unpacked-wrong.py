# task: exponential
# loses: exponential-check
# hint: unpacked theta in the wrong order
def exponential_gradient(theta, x, y):
    r, N = theta
    growth = np.exp(r * x)
    residuals = y - N * growth
    return np.array([-2 * np.sum(residuals * growth), -2 * np.sum(residuals * N * x * growth)])
