# task: logistic
# loses: logistic-check, logistic-large-check
# hint: logistic_prime returned None
def logistic(v):
    u = np.exp(-np.abs(v))
    return np.where(v >= 0, 1, u) / (1 + u)


def logistic_prime(v):
    s = logistic(v)
    s * (1 - s)
