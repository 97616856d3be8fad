# task: forward
# loses: forward-check
# hint: goes on as it is
def forward(comm, X, A, a, B, b):
    return parallel.all_reduce(comm, (X @ A + a) @ B) + b
