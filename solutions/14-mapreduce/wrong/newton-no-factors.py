# task: newton
# loses: newton-check
# hint: H lacks the factors
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), np.column_stack([X.T @ X, X.T @ (p - y)])
