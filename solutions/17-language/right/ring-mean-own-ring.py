# task: ring-mean
def ring_mean(comm, g, residual):
    """(the mean over all ranks of g, residual): float32, the same bits on all ranks, by one ring all-reduce.

    g: this rank's gradient, float32, shape (P,). residual: returned as it came.
    """
    x, N, r = g.copy(), comm.size, comm.rank
    chunks = np.array_split(x, N)
    for step in range(2 * (N - 1)):
        give, take = chunks[(r - step) % N], chunks[(r - step - 1) % N]
        got = comm.sendrecv(give, (r + 1) % N, recvbuf=np.empty_like(take), source=(r - 1) % N)
        take[...] = take + got if step < N - 1 else got
    return x / N, residual
