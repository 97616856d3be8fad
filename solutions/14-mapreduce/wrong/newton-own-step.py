# task: newton
# loses: newton-check
# hint: this row has H and the step
def newton(shard, w):
    X, y = shard
    p = 1 / (1 + np.exp(-X @ w))
    H = (X.T * (p * (1 - p))) @ X
    return np.arange(len(w)), np.column_stack([H, np.linalg.pinv(H) @ (X.T @ (y - p))])
