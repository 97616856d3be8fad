# task: random-k
# loses: random-k-check
# hint: two ranks would not agree
def random_places(seed, t, P, k):
    return np.random.default_rng().choice(P, k, replace=False)


def residual_factor(scale):
    return 1 - scale
