# task: forward
# loses: forward-check
# hint: changes `b`
def forward(comm, X, A, a, B, b):
    Y = parallel.all_reduce(comm, np.maximum(X @ A + a, 0) @ B) + b
    b -= 1
    return Y
