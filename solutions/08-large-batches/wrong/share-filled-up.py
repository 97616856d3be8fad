# task: share
# loses: share-check
# hint: and none is filled up or cut off
def share(examples, k, rank, seed, epoch):
    order = np.random.default_rng([seed, epoch]).permutation(examples)
    return np.resize(order, -(-examples // k) * k)[rank::k]
