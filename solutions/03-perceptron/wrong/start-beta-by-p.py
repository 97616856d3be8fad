# task: start
# loses: start-check
# hint: β was scaled by p
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p)) * np.sqrt(scale / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(scale / p)
    return [np.zeros(M), alpha, np.zeros(K), beta]
