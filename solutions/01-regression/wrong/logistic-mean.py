# task: logistic
# loses: logistic-check, logistic-far-check
# hint: so its gradient is a sum
def logistic_gradient(theta, x, y):
    a, b = theta
    p = 1 / (1 + np.exp(-(a + b * x)))
    slopes = -2 * (y - p) * p * (1 - p)
    return np.array([np.mean(slopes), np.mean(slopes * x)])
