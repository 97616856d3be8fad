# task: least-squares
# loses: least-squares-check
# hint: own solution w
def least_squares(shard, model):
    X, y = shard
    return np.arange(X.shape[1]), np.column_stack([X.T @ X, np.linalg.lstsq(X, y)[0]])
