# task: logistic
# loses: logistic-large-check
# hint: one of its exponentials overflowed
def logistic(v):
    u = np.exp(-np.abs(v))
    return np.where(v >= 0, 1, u) / (1 + u)


def logistic_prime(v):
    return 1 / (2 + np.exp(v) + np.exp(-v))
