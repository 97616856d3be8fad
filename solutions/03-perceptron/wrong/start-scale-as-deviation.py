# task: start
# loses: start-check, digits-check
# hint: the standard deviation of α is √(2/400)
def start(p, M, K, scale, seed):
    rng = np.random.default_rng(seed)
    return [np.zeros(M), scale * rng.normal(size=(M, p)), np.zeros(K), scale * rng.normal(size=(K, M))]
