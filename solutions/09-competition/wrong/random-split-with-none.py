# task: random-split
# loses: random-split-check
# hint: which have no class, are for training
def random_split(labels, share, seed):
    rng = np.random.default_rng(seed)
    training = np.zeros(labels.shape, dtype=bool)
    for c in range(labels.max() + 1):
        positions = np.flatnonzero(labels == c)
        training.flat[rng.choice(positions, round(share * len(positions)), replace=False)] = True
    return training
