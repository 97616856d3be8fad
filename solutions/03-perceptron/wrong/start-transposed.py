# task: start
# loses: start-check, digits-check
# hint: the shapes are
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(p, M)) * np.sqrt(scale / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(scale / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
