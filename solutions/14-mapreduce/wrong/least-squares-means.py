# task: least-squares
# loses: least-squares-check
# hint: divided by the number of rows
def least_squares(shard, model):
    X, y = shard
    return np.arange(X.shape[1]), np.column_stack([X.T @ X, X.T @ y]) / max(len(X), 1)
