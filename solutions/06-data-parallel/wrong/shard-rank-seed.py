# task: shard
# loses: shard-check
# hint: are on no rank
def shard(count, rank, size, seed):
    order = np.random.default_rng(seed + rank).permutation(count)
    each = -(-count // size)
    return np.resize(order, each * size)[rank::size]
