# task: forward
# loses: forward-check
# hint: float32
def forward(comm, X, A, a, B, b):
    own = (np.maximum(X @ A + a, 0) @ B).astype(np.float32)
    return parallel.all_reduce(comm, own) + b.astype(np.float32)
