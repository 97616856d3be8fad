# task: share
def share(samples, k, rank, seed, epoch):
    order = list(range(samples))
    np.random.default_rng(1000 * seed + epoch).shuffle(order)
    return [order[i] for i in range(rank, samples, k)]
