# task: share
# loses: share-check
# hint: the same samples
def share(samples, k, rank, seed, epoch):
    return np.random.default_rng([seed, epoch]).permutation(samples)[: -(-samples // k)]
