# task: autoregression
# loses: autoregression-check
# hint: the targets are 4, 8 and 16
def lagged(y, p):
    """(A, targets) of AR(p): A of shape (n - p, p + 1), rows 1, y[t-1], ..., y[t-p]; targets y[p], ..., y[n-1]."""
    columns = [y[p - i : len(y) - i] for i in range(1, p + 1)]
    return np.column_stack([np.ones(len(y) - p), *columns]), y[p - 1 : -1].copy()


def fit(y, p):
    """(c, φ_1, ..., φ_p) of AR(p) by least squares, shape (p + 1,)."""
    return np.linalg.lstsq(*lagged(y, p))[0]
