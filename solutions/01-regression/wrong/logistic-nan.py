# task: logistic
# loses: logistic-far-check
# hint: inf/inf gives nan
def logistic_gradient(theta, x, y):
    a, b = theta
    p = np.exp(a + b * x) / (1 + np.exp(a + b * x))
    slopes = -2 * (y - p) * p * (1 - p)
    return np.array([np.sum(slopes), np.sum(slopes * x)])
