# task: newton
# loses: newton-check
# hint: one unknown has the key 0
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(X)), np.column_stack([(X.T * (p * (1 - p))) @ X, X.T @ (p - y)])
