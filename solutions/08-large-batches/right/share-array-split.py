# task: share
def share(samples, k, rank, seed, epoch):
    return np.array_split(np.random.default_rng([seed, epoch]).permutation(samples), k)[rank]
