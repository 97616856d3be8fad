# task: shard
# loses: shard-check
# hint: Every rank gets all 7 rows
def shard(count, rank, size, seed):
    order = np.random.default_rng(seed).permutation(count)
    each = -(-count // size)
    return order
