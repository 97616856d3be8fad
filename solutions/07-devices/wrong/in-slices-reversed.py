# task: in-slices
# loses: in-slices-check
# hint: concatenated in reverse
def in_slices(f, x, N):
    """f(x), computed by N calls of f on slices of the rows of x, fewer where slices are empty.

    x: shape (B, ...), with B at least 1. f: takes some rows of x and returns as many rows.
    """
    parts = []
    for begin, end in slices(len(x), N):
        if end > begin:
            parts.insert(0, f(x[begin:end]))
    return np.concatenate(parts)
