# task: random-k
# loses: random-k-check
# hint: 4 is what is sent
def random_places(seed, t, P, k):
    return np.random.default_rng([seed, t]).choice(P, k, replace=False)


def residual_factor(scale):
    return scale
