# task: random-k
def random_places(seed, t, P, k):
    draws = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(t,))).random(P)
    return np.argsort(draws)[:k]


def residual_factor(scale):
    left = 1 - scale
    return left
