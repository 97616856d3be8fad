# task: exponential
# loses: exponential-check
# hint: one factor N too many
def exponential_gradient(theta, x, y):
    N, r = theta
    growth = np.exp(r * x)
    residuals = y - N * growth
    return np.array([-2 * np.sum(residuals * N * growth), -2 * np.sum(residuals * N * x * growth)])
