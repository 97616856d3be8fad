# task: share
# loses: share-check
# hint: each rank gets all examples
def share(examples, k, rank, seed, epoch):
    return np.random.default_rng([seed, epoch]).permutation(examples)
