# task: newton
# loses: newton-check
# hint: H has the factor p. It is p (1 - p)
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), np.column_stack([(X.T * (p)) @ X, X.T @ (p - y)])
