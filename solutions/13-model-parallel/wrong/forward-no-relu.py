# task: forward
# loses: forward-check
# hint: whole numbers: rank 0 should have
def forward(comm, X, A, a, B, b):
    return parallel.all_reduce(comm, (X @ A + a) @ B) + b
