# task: share
# loses: share-check
# hint: Shuffle all examples anew
def share(examples, k, rank, seed, epoch):
    own = np.arange(examples)[rank::k]
    return np.random.default_rng([seed, epoch]).permutation(own)
