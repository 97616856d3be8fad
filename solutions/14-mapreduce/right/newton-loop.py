# task: newton
def newton(shard, w):
    X, y = shard
    H, g = np.zeros((len(w), len(w))), np.zeros(len(w))
    for x, target in zip(X, y, strict=True):
        p = 1 / (1 + np.exp(-(x @ w)))
        H += p * (1 - p) * np.outer(x, x)
        g += (p - target) * x
    return np.arange(len(w)), np.hstack([H, g[:, None]])
