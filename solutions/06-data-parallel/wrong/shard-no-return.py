# task: shard
# loses: shard-check
# hint: `shard` returned None
def shard(count, rank, size, seed):
    order = np.random.default_rng(seed).permutation(count)
    each = -(-count // size)
    part = np.resize(order, each * size)[rank::size]
