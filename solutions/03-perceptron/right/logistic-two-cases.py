# task: logistic
def logistic(v):
    result = np.empty_like(v, dtype=float)
    positive = v > 0
    result[positive] = 1 / (1 + np.exp(-v[positive]))
    e = np.exp(v[~positive])
    result[~positive] = e / (1 + e)
    return result


def logistic_prime(v):
    u = np.exp(-np.abs(v))
    return u / (1 + u) ** 2
