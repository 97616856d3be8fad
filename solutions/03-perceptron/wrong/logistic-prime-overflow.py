# task: logistic
# loses: logistic-large-check
# hint: logistic_prime is right, but an exponential overflowed
def logistic(v):
    u = np.exp(-np.abs(v))
    return np.where(v >= 0, 1, u) / (1 + u)


def logistic_prime(v):
    return 1 / (2 + np.exp(v) + np.exp(-v))
