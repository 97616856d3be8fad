# task: start
# loses: start-check
# hint: yours ignores `scale`
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p)) * np.sqrt(1 / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(1 / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
