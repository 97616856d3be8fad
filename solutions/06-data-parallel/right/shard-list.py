# task: shard
def shard(n, rank, size, seed):
    order = list(np.random.default_rng(seed).permutation(n))
    while len(order) % size:
        order.append(order[len(order) - n])
    return order[rank::size]
