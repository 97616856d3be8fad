# task: in-slices
# loses: in-slices-check
# hint: in_slices returned a list
def in_slices(f, x, N):
    """f(x), computed by N calls of f on slices of the rows of x, fewer where slices are empty.

    x: shape (B, ...), with B at least 1. f: takes some rows of x and returns as many rows.
    """
    return [f(x[begin:end]) for begin, end in slices(len(x), N) if end > begin]
