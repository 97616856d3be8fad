# task: start
# loses: start-check
# hint: draws both signs
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = np.abs(rng.normal(size=(M, p))) * np.sqrt(scale / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(scale / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
