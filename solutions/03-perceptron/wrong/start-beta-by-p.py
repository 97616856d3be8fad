# task: start
# loses: start-check
# hint: the deviation of β has p
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p)) * np.sqrt(scale / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(scale / p)
    return [np.zeros(M), alpha, np.zeros(K), beta]
