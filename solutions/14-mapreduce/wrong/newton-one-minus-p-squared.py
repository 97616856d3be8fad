# task: newton
# loses: newton-check
# hint: three examples, w = (0.3, -0.4)
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), np.column_stack([(X.T * (1 - p) ** 2) @ X, X.T @ (p - y)])
