# task: batch-norm
# loses: batch-norm-check
# hint: no ddof
def moments(comm, x, synchronized):
    if synchronized:
        sums = all_reduce(comm, np.stack([x.sum(axis=0), (x**2).sum(axis=0), np.full(x.shape[1], len(x))]))
        mean = sums[0] / sums[2]
        return mean, sums[1] / sums[2] - mean**2
    return x.mean(axis=0), x.var(axis=0, ddof=1 if len(x) > 1 else 0)
