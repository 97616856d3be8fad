# task: logistic
# loses: logistic-check, logistic-large-check
# hint: yours is tanh
def logistic(v):
    return np.tanh(v)


def logistic_prime(v):
    s = logistic(v)
    return s * (1 - s)
