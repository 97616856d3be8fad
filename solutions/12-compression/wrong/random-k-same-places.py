# task: random-k
# loses: random-k-check
# hint: the same in all iterations
def random_places(seed, t, P, k):
    return np.random.default_rng(seed).choice(P, k, replace=False)


def residual_factor(scale):
    return 1 - scale
