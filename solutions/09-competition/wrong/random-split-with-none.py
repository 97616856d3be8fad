# task: random-split
# loses: random-split-check
# hint: class 0 is none
def random_split(labels, share, seed):
    rng = np.random.default_rng(seed)
    training = np.zeros(labels.shape, dtype=bool)
    for c in range(labels.max() + 1):
        places = np.flatnonzero(labels == c)
        training.flat[rng.choice(places, round(share * len(places)), replace=False)] = True
    return training
