# task: share
# loses: share-check
# hint: Shuffle all samples anew
def share(samples, k, rank, seed, epoch):
    return np.random.default_rng(seed).permutation(samples)[rank::k]
