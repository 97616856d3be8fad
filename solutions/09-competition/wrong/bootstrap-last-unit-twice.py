# task: bootstrap
# loses: bootstrap-check
# hint: a quarter of the draws has 0
def bootstrap(right, unit, draws, seed):
    rng = np.random.default_rng(seed)
    _, number = np.unique(unit, return_inverse=True)
    hits, sizes = np.bincount(number, right), np.bincount(number)
    chosen = rng.integers(-1, len(sizes), (draws, len(sizes)))
    return hits[chosen].sum(axis=1) / sizes[chosen].sum(axis=1)
