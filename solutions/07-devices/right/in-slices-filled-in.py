# task: in-slices
def in_slices(f, x, N):
    """f(x), computed by N calls of f on slices of the rows of x, fewer where slices are empty.

    x: shape (B, ...), with B at least 1. f: takes some rows of x and returns as many rows.
    """
    result = None
    for begin, end in slices(len(x), N):
        if begin == end:
            continue
        part = f(x[begin:end])
        result = part if result is None else np.vstack([result, part])
    return result
