# task: start
# loses: start-check
# hint: NumPy's global generator
def start(p, M, K, scale, seed):
    np.random.seed(seed)
    alpha = np.random.normal(size=(M, p)) * np.sqrt(scale / p)
    beta = np.random.normal(size=(K, M)) * np.sqrt(scale / M)
    return [np.zeros(M), alpha, np.zeros(K), beta]
