# task: least-squares
# loses: least-squares-check
# hint: least_squares returned None
def least_squares(shard, model):
    X, y = shard
    np.arange(X.shape[1]), np.column_stack([X.T @ X, X.T @ y])
