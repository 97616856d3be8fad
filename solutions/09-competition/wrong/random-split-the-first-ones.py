# task: random-split
# loses: random-split-check
# hint: another seed gives the same pixels
def random_split(labels, share, seed):
    training = np.zeros(labels.shape, dtype=bool)
    for c in range(1, labels.max() + 1):
        positions = np.flatnonzero(labels == c)
        training.flat[positions[: round(share * len(positions))]] = True
    return training
