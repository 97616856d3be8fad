# task: acf
def autocorrelation(y, lags):
    z = y - np.mean(y)
    products = np.correlate(z, z, "full")[len(z) - 1 :]
    return products[: lags + 1] / products[0]
