# task: least-squares
# loses: least-squares-check
# hint: by hand: [[14 6 17] [6 3 7]]
def least_squares(shard, model):
    X, y = shard
    return np.arange(X.shape[1]), np.column_stack([X.T @ X, -X.T @ y])
