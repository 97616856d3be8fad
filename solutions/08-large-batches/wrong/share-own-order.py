# task: share
# loses: share-check
# hint: no rank in the seed
def share(examples, k, rank, seed, epoch):
    return np.random.default_rng([seed, epoch, rank]).permutation(examples)[rank::k]
