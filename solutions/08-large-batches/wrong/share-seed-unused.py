# task: share
# loses: share-check
# hint: same for every seed
def share(samples, k, rank, seed, epoch):
    return np.random.default_rng(epoch).permutation(samples)[rank::k]
