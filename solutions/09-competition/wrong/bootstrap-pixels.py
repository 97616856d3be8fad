# task: bootstrap
# loses: bootstrap-check
# hint: draw units, not pixels
def bootstrap(right, unit, draws, seed):
    rng = np.random.default_rng(seed)
    return right[rng.integers(0, len(right), (draws, len(right)))].mean(axis=1)
