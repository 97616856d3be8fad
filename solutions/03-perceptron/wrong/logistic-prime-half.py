# task: logistic
# loses: logistic-check, logistic-large-check
# hint: your derivative is 1 - σ(v) alone
def logistic(v):
    u = np.exp(-np.abs(v))
    return np.where(v >= 0, 1, u) / (1 + u)


def logistic_prime(v):
    s = logistic(v)
    return 1 - s
