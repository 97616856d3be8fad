# task: shard
# loses: shard-check
# hint: are on no rank
def shard(n, rank, size, seed):
    """The numbers of this rank's rows, of rows 0 to n - 1: ceil(n / size) of them. seed: of the epoch."""
    order = np.random.default_rng(seed + rank).permutation(n)
    each = -(-n // size)
    return np.resize(order, each * size)[rank::size]
