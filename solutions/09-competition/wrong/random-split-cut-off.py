# task: random-split
# loses: random-split-check
# hint: int() cuts the fraction off
def random_split(labels, share, seed):
    rng = np.random.default_rng(seed)
    training = np.zeros(labels.shape, dtype=bool)
    for c in range(1, labels.max() + 1):
        positions = np.flatnonzero(labels == c)
        training.flat[rng.choice(positions, int(share * len(positions)), replace=False)] = True
    return training
