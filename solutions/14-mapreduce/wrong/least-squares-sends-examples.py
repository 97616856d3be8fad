# task: least-squares
# loses: least-squares-check
# hint: not per example
def least_squares(shard, model):
    X, y = shard
    return np.arange(X.shape[1]), X
