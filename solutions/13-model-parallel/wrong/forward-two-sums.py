# task: forward
# loses: forward-check
# hint: one all-reduce of Y sends
def forward(comm, X, A, a, B, b):
    own = np.maximum(X @ A + a, 0) @ B
    parallel.all_reduce(comm, own)
    return parallel.all_reduce(comm, own) + b
