# task: autoregression
def lagged(y, p):
    rows = [[1.0] + [y[t - i] for i in range(1, p + 1)] for t in range(p, len(y))]
    return np.array(rows), np.array(y[p:])


def fit(y, p):
    A, targets = lagged(y, p)
    return np.linalg.solve(A.T @ A, A.T @ targets)
