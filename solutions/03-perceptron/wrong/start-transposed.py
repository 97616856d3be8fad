# task: start
# loses: start-check
# hint: the shapes are
def start(p, M, K, gain, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(p, M)) * np.sqrt(gain / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(gain / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
