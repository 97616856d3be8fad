# task: batch-norm
# loses: batch-norm-check
# hint: 12 is the sum of all rows
def moments(comm, x, synchronized):
    sums = np.stack([x.mean(axis=0), (x**2).mean(axis=0)])
    if synchronized:
        sums = all_reduce(comm, np.stack([x.sum(axis=0), (x**2).sum(axis=0)]))
    return sums[0], sums[1] - sums[0] ** 2
