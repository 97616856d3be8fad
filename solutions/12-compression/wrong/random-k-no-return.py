# task: random-k
# loses: random-k-check
# hint: random_places returned None
def random_places(seed, t, P, k):
    np.random.default_rng([seed, t]).choice(P, k, replace=False)


def residual_factor(scale):
    return 1 - scale
