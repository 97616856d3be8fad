# task: random-split
# loses: random-split-check
# hint: Draw for each class separately
def random_split(labels, share, seed):
    rng = np.random.default_rng(seed)
    training = np.zeros(labels.shape, dtype=bool)
    positions = np.flatnonzero(labels)
    training.flat[rng.choice(positions, round(share * len(positions)), replace=False)] = True
    return training
