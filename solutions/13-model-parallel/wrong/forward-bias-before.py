# task: forward
# loses: forward-check
# hint: b counts N times
def forward(comm, X, A, a, B, b):
    return parallel.all_reduce(comm, np.maximum(X @ A + a, 0) @ B + b)
