# task: least-squares
# loses: least-squares-check
# hint: a mapper returns two arrays
def least_squares(shard, model):
    X, y = shard
    return np.arange(X.shape[1]), X.T @ X, X.T @ y
