# task: bootstrap
# loses: bootstrap-check
# hint: all draws have the same accuracy
def bootstrap(right, unit, draws, seed):
    rng = np.random.default_rng(seed)
    units, found = np.unique(unit), []
    for _ in range(draws):
        chosen = rng.choice(units, len(units), replace=False)
        found.append(np.concatenate([right[unit == u] for u in chosen]).mean())
    return np.array(found)
