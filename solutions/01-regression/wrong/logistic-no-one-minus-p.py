# task: logistic
# loses: logistic-check, logistic-far-check
# hint: one of its two factors
def logistic_gradient(theta, x, y):
    a, b = theta
    p = 1 / (1 + np.exp(-(a + b * x)))
    slopes = -2 * (y - p) * p
    return np.array([np.sum(slopes), np.sum(slopes * x)])
