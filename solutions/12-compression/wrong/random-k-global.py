# task: random-k
# loses: random-k-check
# hint: NumPy's global generator
def random_places(seed, t, P, k):
    return (np.random.seed(1000 * seed + t), np.random.choice(P, k, replace=False))[1]


def residual_factor(scale):
    return 1 - scale
