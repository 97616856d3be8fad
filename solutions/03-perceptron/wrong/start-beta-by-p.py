# task: start
# loses: start-check
# hint: β was scaled by p
def start(p, M, K, gain, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p)) * np.sqrt(gain / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(gain / p)
    return [np.zeros(M), alpha, np.zeros(K), beta]
