# task: share
# loses: share-check
# hint: no rank in the seed
def share(samples, k, rank, seed, epoch):
    return np.random.default_rng([seed, epoch, rank]).permutation(samples)[rank::k]
