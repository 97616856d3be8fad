# task: random-split
# loses: random-split-check
# hint: the same seed gives other pixels
def random_split(labels, share, seed):
    training = np.zeros(labels.shape, dtype=bool)
    for c in range(1, labels.max() + 1):
        positions = np.flatnonzero(labels == c)
        training.flat[np.random.choice(positions, round(share * len(positions)), replace=False)] = True
    return training
