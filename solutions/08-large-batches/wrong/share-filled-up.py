# task: share
# loses: share-check
# hint: none is filled up or cut off
def share(samples, k, rank, seed, epoch):
    order = np.random.default_rng([seed, epoch]).permutation(samples)
    return np.resize(order, -(-samples // k) * k)[rank::k]
