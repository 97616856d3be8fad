# task: acf
def autocorrelation(y, lags):
    from statsmodels.tsa.stattools import acf

    return acf(y, nlags=lags, fft=False)
