# task: record
def record():
    dense = np.array([10.51, 10.18, 10.29, 10.18, 8.3])
    top = np.array([17.15, 16.48, 16.15, 16.59, 15.71])
    with_residual = np.array([10.73, 10.29, 11.06, 10.4, 10.18])
    errors = {"top-k": top, "dense": dense, "top-k, residual": with_residual}
    return np.arange(21, 26), errors, {"top-k, residual": "undecided", "top-k": "worse"}
