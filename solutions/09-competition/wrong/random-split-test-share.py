# task: random-split
# loses: random-split-check
# hint: nine tenths are for training
def random_split(labels, share, seed):
    rng = np.random.default_rng(seed)
    training = labels > 0
    for c in range(1, labels.max() + 1):
        positions = np.flatnonzero(labels == c)
        training.flat[rng.choice(positions, round(share * len(positions)), replace=False)] = False
    return training
