# task: start
# loses: start-check, digits-check
# hint: the standard deviation of α is 1
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p))
    beta = rng.normal(size=(K, M))
    return [np.zeros(M), alpha, np.zeros(K), beta]
