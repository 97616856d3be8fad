# task: logistic
# loses: logistic-check, logistic-large-check
# hint: yours is v (1 - v)
def logistic(v):
    u = np.exp(-np.abs(v))
    return np.where(v >= 0, 1, u) / (1 + u)


def logistic_prime(v):
    return v * (1 - v)
