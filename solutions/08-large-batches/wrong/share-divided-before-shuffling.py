# task: share
# loses: share-check
# hint: Shuffle all samples anew
def share(samples, k, rank, seed, epoch):
    own = np.arange(samples)[rank::k]
    return np.random.default_rng([seed, epoch]).permutation(own)
