# task: random-k
# loses: random-k-check
# hint: seed 5 and seed 6 give the same places
def random_places(seed, t, P, k):
    return (np.arange(k) + t * k) % P


def residual_factor(scale):
    return 1 - scale
