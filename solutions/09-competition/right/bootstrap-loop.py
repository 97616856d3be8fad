# task: bootstrap
def bootstrap(right, unit, draws, seed):
    rng = np.random.default_rng(seed)
    units, found = np.unique(unit), []
    for _ in range(draws):
        pixels = np.concatenate([np.flatnonzero(unit == u) for u in rng.choice(units, len(units))])
        found.append(right[pixels].mean())
    return np.array(found)
