# task: share
# loses: share-check
# hint: make the generator from
def share(examples, k, rank, seed, epoch):
    own = np.random.default_rng(rank + 1000 * np.random.randint(1000)).permutation(np.arange(examples)[rank::k])
    return own
