# task: forward
# loses: forward-check
# hint: whole numbers: rank 0 should have
def forward(comm, X, A, a, B, b):
    return np.maximum(parallel.all_reduce(comm, (X @ A + a) @ B), 0) + b
