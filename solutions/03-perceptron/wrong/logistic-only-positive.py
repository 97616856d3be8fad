# task: logistic
# loses: logistic-check, logistic-large-check
# hint: right for positive v only
def logistic(v):
    u = np.exp(-np.abs(v))
    return 1 / (1 + u)


def logistic_prime(v):
    s = logistic(v)
    return s * (1 - s)
