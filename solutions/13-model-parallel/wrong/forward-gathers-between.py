# task: forward
# loses: forward-check
# hint: one all-reduce of Y sends
def forward(comm, X, A, a, B, b):
    H = np.maximum(X @ A + a, 0)
    counts = np.zeros(comm.size)
    counts[comm.rank] = H.size
    counts = parallel.all_reduce(comm, counts)
    return parallel.all_reduce(comm, H @ B) + b
