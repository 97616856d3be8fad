# task: random-k
# loses: random-k-check
# hint: k = 6 places
def random_places(seed, t, P, k):
    return np.random.default_rng([seed, t]).random(P) < k / P


def residual_factor(scale):
    return 1 - scale
