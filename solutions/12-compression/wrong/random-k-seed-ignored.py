# task: random-k
# loses: random-k-check
# hint: the seed is not used
def random_places(seed, t, P, k):
    return np.random.default_rng(t).choice(P, k, replace=False)


def residual_factor(scale):
    return 1 - scale
