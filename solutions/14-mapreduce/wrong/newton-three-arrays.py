# task: newton
# loses: newton-check
# hint: a mapper returns two arrays
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), (X.T * (p * (1 - p))) @ X, X.T @ (p - y)
