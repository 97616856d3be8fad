# task: bootstrap
# loses: bootstrap-check
# hint: Is each unit as likely?
def bootstrap(right, unit, draws, seed):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        chosen = rng.choice(unit, len(np.unique(unit)))
        found.append(np.concatenate([right[unit == u] for u in chosen]).mean())
    return np.array(found)
