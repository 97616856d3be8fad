# task: random-split
# loses: random-split-check
# hint: Draw for each class apart
def random_split(labels, share, seed):
    rng = np.random.default_rng(seed)
    training = np.zeros(labels.shape, dtype=bool)
    places = np.flatnonzero(labels)
    training.flat[rng.choice(places, round(share * len(places)), replace=False)] = True
    return training
