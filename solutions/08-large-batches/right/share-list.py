# task: share
def share(examples, k, rank, seed, epoch):
    order = list(range(examples))
    np.random.default_rng(1000 * seed + epoch).shuffle(order)
    return [order[i] for i in range(rank, examples, k)]
