# task: acf
# loses: acf-check
# hint: do not go around the end
def autocorrelation(y, lags):
    """r_0, ..., r_lags of the series y, shape (n,): an array of shape (lags + 1,). lags < n."""
    z = y - y.mean()
    return np.array([np.roll(z, k) @ z for k in range(lags + 1)]) / (z @ z)
