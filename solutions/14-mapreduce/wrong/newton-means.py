# task: newton
# loses: newton-check
# hint: divided by the number of rows
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), np.column_stack([(X.T * (p * (1 - p))) @ X, X.T @ (p - y)]) / max(len(X), 1)
