# task: logistic
# loses: logistic-large-check
# hint: infinity divided by infinity is nan
def logistic(v):
    return np.exp(v) / (1 + np.exp(v))


def logistic_prime(v):
    s = logistic(v)
    return s * (1 - s)
