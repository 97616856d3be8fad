# task: start
# loses: start-check
# hint: the deviation of α has M
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p)) * np.sqrt(scale / M)
    beta = rng.normal(size=(K, M)) * np.sqrt(scale / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
