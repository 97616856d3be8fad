# task: acf
# loses: acf-check
# hint: changes `y`
def autocorrelation(y, lags):
    """r_0, ..., r_lags of the series y, shape (n,): an array of shape (lags + 1,). lags < n."""
    y -= y.mean()
    z = y
    return np.array([z[k:] @ z[: len(z) - k] for k in range(lags + 1)]) / (z @ z)
