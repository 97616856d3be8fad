# task: newton
# loses: newton-check
# hint: H has the factor 1/4 whatever w is
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), np.column_stack([X.T @ X / 4, X.T @ (p - y)])
