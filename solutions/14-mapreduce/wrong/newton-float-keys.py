# task: newton
# loses: newton-check
# hint: keys are int64
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)) * 1.0, np.column_stack([(X.T * (p * (1 - p))) @ X, X.T @ (p - y)])
