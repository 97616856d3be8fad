# task: least-squares
# loses: least-squares-check
# hint: keys are int64
def least_squares(shard, model):
    X, y = shard
    return np.arange(X.shape[1], dtype=float), np.column_stack([X.T @ X, X.T @ y])
