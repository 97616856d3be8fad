# task: exponential
# loses: exponential-check
# hint: f(x) has a minus sign
def exponential_gradient(theta, x, y):
    N, r = theta
    growth = np.exp(r * x)
    residuals = y - N * growth
    return np.array([2 * np.sum(residuals * growth), 2 * np.sum(residuals * N * x * growth)])
