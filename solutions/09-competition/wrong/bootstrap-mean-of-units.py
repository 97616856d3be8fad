# task: bootstrap
# loses: bootstrap-check
# hint: count pixels instead of averaging over units
def bootstrap(right, unit, draws, seed):
    rng = np.random.default_rng(seed)
    shares = np.array([right[unit == u].mean() for u in np.unique(unit)])
    return shares[rng.integers(0, len(shares), (draws, len(shares)))].mean(axis=1)
