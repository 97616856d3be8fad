# task: start
# loses: start-check
# hint: α_0 and β_0 begin at 0
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    alpha = rng.normal(size=(M, p)) * np.sqrt(scale / p)
    beta = rng.normal(size=(K, M)) * np.sqrt(scale / M)
    return [rng.normal(size=M), alpha, np.zeros(K), beta]
