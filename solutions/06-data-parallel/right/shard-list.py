# task: shard
def shard(count, rank, size, seed):
    order = list(np.random.default_rng(seed).permutation(count))
    while len(order) % size:
        order.append(order[len(order) - count])
    return order[rank::size]
