# task: share
# loses: share-check
# hint: none is filled up or cut off
def share(samples, k, rank, seed, epoch):
    each = samples // k
    order = np.random.default_rng([seed, epoch]).permutation(samples)
    return order[rank * each : (rank + 1) * each]
