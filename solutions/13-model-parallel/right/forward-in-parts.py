# task: forward
def forward(comm, X, A, a, B, b):
    Z = X @ A + a
    own = np.where(Z > 0, Z, 0.0) @ B
    mine = parallel.reduce_scatter(comm, own)
    return b + parallel.all_gather(comm, mine, own.size).reshape(own.shape)
