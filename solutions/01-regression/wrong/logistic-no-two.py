# task: logistic
# loses: logistic-check, logistic-far-check
# hint: the factor 2 of the square's derivative
def logistic_gradient(theta, x, y):
    a, b = theta
    p = 1 / (1 + np.exp(-(a + b * x)))
    slopes = -(y - p) * p * (1 - p)
    return np.array([np.sum(slopes), np.sum(slopes * x)])
