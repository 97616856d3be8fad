# task: batch-norm
# loses: batch-norm-check
# hint: normalized together
def normalize(x, n, epsilon):
    return (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + epsilon)
