# task: batch-norm
def moments(comm, x, synchronized):
    if not synchronized:
        return [x.mean(axis=0), x.var(axis=0)]
    rows = all_reduce(comm, np.array([len(x)]))[0]
    mean = all_reduce(comm, x.sum(axis=0)) / rows
    return [mean, all_reduce(comm, ((x - mean) ** 2).sum(axis=0)) / rows]
