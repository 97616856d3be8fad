# task: start
def start(p, M, K, gain, seed):
    rng = np.random.default_rng(seed)
    beta = rng.normal(scale=(gain / M) ** 0.5, size=(K, M))
    alpha = rng.normal(0, (gain / p) ** 0.5, (M, p))
    return np.zeros(M), alpha, np.zeros(K), beta
