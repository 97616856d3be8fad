# task: start
# loses: start-check
# hint: α and β hold the same random numbers
def start(p, M, K, scale, seed):
    alpha = np.random.default_rng(seed).normal(size=(M, p)) * np.sqrt(scale / p)
    beta = np.random.default_rng(seed).normal(size=(K, M)) * np.sqrt(scale / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
