# task: logistic
# loses: logistic-check
# hint: returned float16, which keeps about 3 digits
def logistic_gradient(theta, x, y):
    p = 1 / (1 + np.exp(-(theta[0] + theta[1] * x)))
    slopes = -2 * (y - p) * p * (1 - p)
    return np.array([np.sum(slopes), np.sum(slopes * x)], dtype=np.float16)
