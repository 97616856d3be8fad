# task: exponential
# loses: exponential-check
# hint: the factor 2 of the square's derivative
def exponential_gradient(theta, x, y):
    N, r = theta
    growth = np.exp(r * x)
    residuals = y - N * growth
    return np.array([-np.sum(residuals * growth), -np.sum(residuals * N * x * growth)])
