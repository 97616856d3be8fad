# task: shard
# loses: shard-check
# hint: Every rank gets the same rows
def shard(count, rank, size, seed):
    order = np.random.default_rng(seed).permutation(count)
    each = -(-count // size)
    return np.resize(order, each * size)[:each]
