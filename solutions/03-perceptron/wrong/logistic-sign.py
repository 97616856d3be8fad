# task: logistic
# loses: logistic-check, logistic-large-check
# hint: falls where it should rise
def logistic(v):
    u = np.exp(-np.abs(v))
    return np.where(v <= 0, 1, u) / (1 + u)


def logistic_prime(v):
    s = logistic(v)
    return s * (1 - s)
