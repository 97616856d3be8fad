# task: start
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    beta = rng.normal(scale=(scale / M) ** 0.5, size=(K, M))
    alpha = rng.normal(0, (scale / p) ** 0.5, (M, p))
    return np.zeros(M), alpha, np.zeros(K), beta
