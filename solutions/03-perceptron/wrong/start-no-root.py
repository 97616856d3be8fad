# task: start
# loses: start-check
# hint: the square root is missing
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p)) * scale / p
    beta = rng.normal(size=(K, M)) * scale / M
    return [np.zeros(M), alpha, np.zeros(K), beta]
