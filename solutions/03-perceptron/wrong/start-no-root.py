# task: start
# loses: start-check
# hint: the root is missing
def start(p, M, K, gain, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p)) * gain / p
    beta = rng.normal(size=(K, M)) * gain / M
    return [np.zeros(M), alpha, np.zeros(K), beta]
