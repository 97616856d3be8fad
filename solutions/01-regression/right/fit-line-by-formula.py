# task: fit-line
def fit_line(x, y):
    n = len(x)
    m = (n * (x @ y) - x.sum() * y.sum()) / (n * (x @ x) - x.sum() ** 2)
    return [m, y.mean() - m * x.mean()]
