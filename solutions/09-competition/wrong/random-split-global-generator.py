# task: random-split
# loses: random-split-check
# hint: draw with rng
def random_split(labels, share, seed):
    training = np.zeros(labels.shape, dtype=bool)
    for c in range(1, labels.max() + 1):
        places = np.flatnonzero(labels == c)
        training.flat[np.random.choice(places, round(share * len(places)), replace=False)] = True
    return training
