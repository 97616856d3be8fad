# task: random-split
# loses: random-split-check
# hint: the last class, 5, has no training pixels
def random_split(labels, share, seed):
    rng = np.random.default_rng(seed)
    training = np.zeros(labels.shape, dtype=bool)
    for c in range(1, labels.max()):
        positions = np.flatnonzero(labels == c)
        training.flat[rng.choice(positions, round(share * len(positions)), replace=False)] = True
    return training
