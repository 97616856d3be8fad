# task: batch-norm
# loses: batch-norm-check
# hint: the variances within the ranks
def moments(comm, x, synchronized):
    mean, variance, rows = x.sum(axis=0), x.var(axis=0) * len(x), len(x)
    if synchronized:
        rows = all_reduce(comm, [len(x)])
        mean, variance = all_reduce(comm, mean), all_reduce(comm, variance)
    return mean / rows, variance / rows
