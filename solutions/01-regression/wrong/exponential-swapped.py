# task: exponential
# loses: exponential-check
# hint: R_N and R_r are swapped
def exponential_gradient(theta, x, y):
    N, r = theta
    growth = np.exp(r * x)
    residuals = y - N * growth
    return np.array([-2 * np.sum(residuals * N * x * growth), -2 * np.sum(residuals * growth)])
