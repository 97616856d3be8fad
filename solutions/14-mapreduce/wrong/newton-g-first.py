# task: newton
# loses: newton-check
# hint: g comes last
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), np.column_stack([X.T @ (p - y), (X.T * (p * (1 - p))) @ X])
