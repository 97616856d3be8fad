# task: random-k
def random_places(seed, t, P, k):
    return np.random.default_rng((t, seed)).permutation(P)[:k]


def residual_factor(scale):
    return -(scale - 1)
