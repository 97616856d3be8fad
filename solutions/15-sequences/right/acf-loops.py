# task: acf
def autocorrelation(y, lags):
    n, mean = len(y), sum(y) / len(y)
    squares = sum((value - mean) ** 2 for value in y)
    result = []
    for k in range(lags + 1):
        result.append(sum((y[t] - mean) * (y[t - k] - mean) for t in range(k, n)) / squares)
    return np.array(result)
