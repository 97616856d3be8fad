# task: random-k
# loses: random-k-check
# hint: drawn twice
def random_places(seed, t, P, k):
    return np.random.default_rng([seed, t]).choice(P, k)


def residual_factor(scale):
    return 1 - scale
