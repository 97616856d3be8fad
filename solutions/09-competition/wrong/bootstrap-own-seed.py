# task: bootstrap
# loses: bootstrap-check
# hint: another seed gives the same draws
def bootstrap(right, unit, draws, seed):
    rng = np.random.default_rng(42)
    _, number = np.unique(unit, return_inverse=True)
    hits, sizes = np.bincount(number, right), np.bincount(number)
    chosen = rng.integers(0, len(sizes), (draws, len(sizes)))
    return hits[chosen].sum(axis=1) / sizes[chosen].sum(axis=1)
