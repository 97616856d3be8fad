# task: forward
def forward(comm, X, A, a, B, b):
    terms = np.array([np.maximum(x @ A + a, 0) @ B for x in X])
    return np.add(parallel.all_reduce(comm, terms), b)
