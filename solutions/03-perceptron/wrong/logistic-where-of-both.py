# task: logistic
# loses: logistic-large-check
# hint: an exponential overflowed on the way
def logistic(v):
    return np.where(v >= 0, 1 / (1 + np.exp(-v)), np.exp(v) / (1 + np.exp(v)))


def logistic_prime(v):
    s = logistic(v)
    return s * (1 - s)
