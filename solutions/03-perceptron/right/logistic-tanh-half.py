# task: logistic
def logistic(v):
    return np.exp(-np.logaddexp(0, -v))


def logistic_prime(v):
    return logistic(v) * logistic(-v)
