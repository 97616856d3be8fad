# task: shard
# loses: shard-check
# hint: The rows are the same in every epoch
def shard(count, rank, size, seed):
    order = np.random.default_rng(0).permutation(count)
    each = -(-count // size)
    return np.resize(order, each * size)[rank::size]
