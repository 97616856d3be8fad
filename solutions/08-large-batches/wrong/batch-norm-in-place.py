# task: batch-norm
# loses: batch-norm-check
# hint: changes `x`
def normalize(x, n, epsilon):
    for first in range(0, len(x), n):
        own = x[first : first + n]
        own -= own.mean(axis=0)
        own /= np.sqrt(own.var(axis=0) + epsilon)
    return x
