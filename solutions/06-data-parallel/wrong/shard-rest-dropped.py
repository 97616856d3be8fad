# task: shard
# loses: shard-check
# hint: one row is left out
def shard(count, rank, size, seed):
    order = np.random.default_rng(seed).permutation(count)
    each = count // size
    return np.resize(order, each * size)[rank::size]
