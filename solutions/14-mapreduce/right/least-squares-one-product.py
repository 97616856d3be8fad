# task: least-squares
def least_squares(shard, model):
    X, y = shard
    return np.array(range(X.shape[1])), np.einsum("ij,ik->jk", X, np.hstack([X, y[:, None]]))
