# task: batch-norm
# loses: batch-norm-check
# hint: moments returned None
def moments(comm, x, synchronized):
    mean, variance = x.mean(axis=0), x.var(axis=0)
