# task: autoregression
def lagged(y, p):
    windows = np.lib.stride_tricks.sliding_window_view(y, p + 1)[:, ::-1]
    A = windows.copy()
    A[:, 0] = 1
    return A, windows[:, 0].copy()


def fit(y, p):
    A, targets = lagged(y, p)
    return np.linalg.pinv(A) @ targets
