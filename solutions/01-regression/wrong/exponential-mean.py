# task: exponential
# loses: exponential-check
# hint: so its gradient is a sum
def exponential_gradient(theta, x, y):
    N, r = theta
    growth = np.exp(r * x)
    residuals = y - N * growth
    return np.array([-2 * np.mean(residuals * growth), -2 * np.mean(residuals * N * x * growth)])
