# task: shard
def shard(count, rank, size, seed):
    order = np.random.default_rng(seed).permutation(count)
    each = -(-count // size)
    return np.resize(order, each * size)[rank * each : (rank + 1) * each]
