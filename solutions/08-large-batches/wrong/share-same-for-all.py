# task: share
# loses: share-check
# hint: two ranks get the same examples
def share(examples, k, rank, seed, epoch):
    return np.random.default_rng([seed, epoch]).permutation(examples)[: -(-examples // k)]
