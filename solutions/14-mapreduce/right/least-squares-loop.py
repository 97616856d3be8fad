# task: least-squares
def least_squares(shard, model):
    X, y = shard
    d = X.shape[1]
    sums = np.zeros((d, d + 1))
    for x, target in zip(X, y, strict=True):
        sums += np.outer(x, np.append(x, target))
    return np.arange(d), sums
