# task: start
# loses: start-check, digits-check
# hint: α or β is all zero
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = np.zeros((M, p)) * np.sqrt(scale / p)
    beta = np.zeros((K, M)) * np.sqrt(scale / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
