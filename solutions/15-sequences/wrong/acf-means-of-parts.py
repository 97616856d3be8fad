# task: acf
# loses: acf-check
# hint: each r_k has the same divisor
def autocorrelation(y, lags):
    """r_0, ..., r_lags of the series y, shape (n,): an array of shape (lags + 1,). lags < n."""
    z = y - y.mean()
    return np.array([1.0] + [np.corrcoef(y[k:], y[: len(y) - k])[0, 1] for k in range(1, lags + 1)])
