# task: random-k
# loses: random-k-check
# hint: places are from 0 to P - 1
def random_places(seed, t, P, k):
    return np.random.default_rng([seed, t]).choice(P, k, replace=False) + 1


def residual_factor(scale):
    return 1 - scale
