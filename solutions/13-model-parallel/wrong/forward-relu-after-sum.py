# task: forward
# loses: forward-check
# hint: the ReLU comes too late
def forward(comm, X, A, a, B, b):
    return np.maximum(parallel.all_reduce(comm, (X @ A + a) @ B), 0) + b
