# task: forward
# loses: forward-check
# hint: add each rank's a before the ReLU
def forward(comm, X, A, a, B, b):
    return parallel.all_reduce(comm, np.maximum(X @ A, 0) @ B) + b
