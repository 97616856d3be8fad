# task: newton
# loses: newton-check
# hint: by hand: H = 5/4
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    return np.arange(len(w)), np.column_stack([(X.T * (p * (1 - p))) @ X, X.T @ (X @ w - y)])
