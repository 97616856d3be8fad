# task: shard
# loses: shard-check
# hint: would wait for the others in its last step
def shard(count, rank, size, seed):
    order = np.random.default_rng(seed).permutation(count)
    each = -(-count // size)
    return np.array_split(order, size)[rank]
