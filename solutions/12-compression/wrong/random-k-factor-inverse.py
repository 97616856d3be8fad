# task: random-k
# loses: random-k-check
# hint: yours is 0.75
def random_places(seed, t, P, k):
    return np.random.default_rng([seed, t]).choice(P, k, replace=False)


def residual_factor(scale):
    return 1 - 1 / scale
