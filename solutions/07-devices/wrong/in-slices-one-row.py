# task: in-slices
# loses: in-slices-check
# hint: must stay a slice
def in_slices(f, x, N):
    """f(x), computed by N calls of f on slices of the rows of x, fewer where slices are empty.

    x: shape (B, ...), with B at least 1. f: takes some rows of x and returns as many rows.
    """
    return np.concatenate([f(x[i]) for i in range(len(x))])
