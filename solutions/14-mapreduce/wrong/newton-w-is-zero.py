# task: newton
# loses: newton-check
# hint: three examples, w = (0.3, -0.4)
def newton(shard, w):
    X, y = shard
    w = np.zeros(len(w))
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), np.column_stack([(X.T * (p * (1 - p))) @ X, X.T @ (p - y)])
