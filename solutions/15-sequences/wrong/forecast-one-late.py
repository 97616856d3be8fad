# task: forecast
# loses: forecast-check
# hint: three steps: the shapes are (3,)
def forecast(w, y, steps, sigma):
    """(forecasts, standard deviations) for the `steps` times after the series y: two arrays of shape (steps,).

    w: (c, φ_1, ..., φ_p). y: at least p values. sigma: standard deviation of ε.
    """
    p = len(w) - 1
    series, psi = list(y), [0.0] * (p - 1) + [1.0]
    while len(series) < len(y) + steps:
        series.append(w[0] + sum(w[i] * series[-i] for i in range(1, p + 1)))
        psi.append(sum(w[i] * psi[-i] for i in range(1, p + 1)))
    kept = np.array(psi[p - 1 : p - 1 + steps])
    return np.array(series[len(y) + 1 :]), sigma * np.sqrt(np.cumsum(kept**2))
