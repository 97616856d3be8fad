# task: newton
def newton(shard, w):
    X, y = shard
    p = (1 + np.tanh(X @ w / 2)) / 2
    H = np.einsum("i,ij,ik->jk", p - p**2, X, X)
    return np.arange(X.shape[1]), np.concatenate([H, ((p - y) @ X).reshape(-1, 1)], axis=1)
