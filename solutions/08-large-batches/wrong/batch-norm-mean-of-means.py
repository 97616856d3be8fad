# task: batch-norm
# loses: batch-norm-check
# hint: 5 is the mean of the ranks
def moments(comm, x, synchronized):
    mean, variance = x.mean(axis=0), x.var(axis=0)
    if synchronized:
        mean, variance = all_reduce(comm, mean) / comm.size, all_reduce(comm, variance) / comm.size
    return mean, variance
