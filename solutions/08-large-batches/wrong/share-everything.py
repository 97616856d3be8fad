# task: share
# loses: share-check
# hint: each worker gets all samples
def share(samples, k, rank, seed, epoch):
    return np.random.default_rng([seed, epoch]).permutation(samples)
