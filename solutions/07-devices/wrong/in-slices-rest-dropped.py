# task: in-slices
# loses: in-slices-check
# hint: f must be given the rows
def in_slices(f, x, N):
    """f(x), computed by N calls of f on slices of the rows of x, fewer where slices are empty.

    x: shape (B, ...), with B at least 1. f: takes some rows of x and returns as many rows.
    """
    step = max(1, len(x) // N)
    return np.concatenate([f(x[i * step : (i + 1) * step]) for i in range(min(N, len(x)))])
