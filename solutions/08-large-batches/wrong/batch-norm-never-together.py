# task: batch-norm
# loses: batch-norm-check
# hint: taken over all ranks
def moments(comm, x, synchronized):
    return x.mean(axis=0), x.var(axis=0)
