# task: least-squares
# loses: least-squares-check
# hint: b comes last
def least_squares(shard, model):
    X, y = shard
    return np.arange(X.shape[1]), np.column_stack([X.T @ y, X.T @ X])
