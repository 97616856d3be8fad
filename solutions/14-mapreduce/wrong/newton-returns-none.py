# task: newton
# loses: newton-check
# hint: newton returned None
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    np.arange(len(w)), np.column_stack([(X.T * (p * (1 - p))) @ X, X.T @ (p - y)])
