# task: random-split
# loses: random-split-check
# hint: a pixel is drawn only once, replace=False
def random_split(labels, share, seed):
    rng = np.random.default_rng(seed)
    training = np.zeros(labels.shape, dtype=bool)
    for c in range(1, labels.max() + 1):
        positions = np.flatnonzero(labels == c)
        training.flat[rng.choice(positions, round(share * len(positions)))] = True
    return training
