# task: share
# loses: share-check
# hint: and none is filled up or cut off
def share(examples, k, rank, seed, epoch):
    each = examples // k
    order = np.random.default_rng([seed, epoch]).permutation(examples)
    return order[rank * each : (rank + 1) * each]
