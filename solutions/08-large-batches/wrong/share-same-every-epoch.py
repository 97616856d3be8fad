# task: share
# loses: share-check
# hint: Shuffle all examples anew
def share(examples, k, rank, seed, epoch):
    return np.random.default_rng(seed).permutation(examples)[rank::k]
