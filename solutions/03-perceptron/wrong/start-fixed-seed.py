# task: start
# loses: start-check
# hint: use `seed`
def start(p, M, K, gain, seed):
    rng = np.random.default_rng(0)
    alpha = rng.normal(size=(M, p)) * np.sqrt(gain / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(gain / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
