# task: least-squares
# loses: least-squares-check
# hint: two unknowns have the keys 0 and 1
def least_squares(shard, model):
    X, y = shard
    return np.arange(X.shape[1]) + 1, np.column_stack([X.T @ X, X.T @ y])
