# task: share
# loses: share-check
# hint: same for every seed
def share(examples, k, rank, seed, epoch):
    return np.random.default_rng(epoch).permutation(examples)[rank::k]
