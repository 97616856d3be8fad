# task: logistic
# loses: logistic-large-check
# hint: Its digits were lost
def logistic(v):
    return np.where(v < -20, 0.0, 1 / (1 + np.exp(-np.maximum(v, -20))))


def logistic_prime(v):
    s = logistic(v)
    return s * (1 - s)
