# task: forward
# loses: forward-check
# hint: each rank returns its own term plus b
def forward(comm, X, A, a, B, b):
    return np.maximum(X @ A + a, 0) @ B + b
