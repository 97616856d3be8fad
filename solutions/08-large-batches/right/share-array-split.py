# task: share
def share(examples, k, rank, seed, epoch):
    return np.array_split(np.random.default_rng([seed, epoch]).permutation(examples), k)[rank]
