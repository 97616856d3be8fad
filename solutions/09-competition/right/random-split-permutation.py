# task: random-split
def random_split(labels, share, seed):
    rng = np.random.default_rng(seed)
    training = np.zeros(labels.size, dtype=bool)
    for c in np.unique(labels[labels > 0]):
        positions = rng.permutation(np.flatnonzero(labels == c))
        training[positions[: round(share * len(positions))]] = True
    return training.reshape(labels.shape)
