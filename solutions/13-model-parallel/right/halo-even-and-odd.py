# task: halo
def halo(comm, x, width):
    rows, nodes = x.shape
    before, after = np.zeros((rows, width)), np.zeros((rows, width))
    first, last = x[:, :width].copy(), x[:, nodes - width :].copy()
    for parity in (0, 1):
        if comm.rank % 2 == parity and comm.rank < comm.size - 1:
            comm.send(last, comm.rank + 1)
            comm.recv(after, comm.rank + 1)
        if comm.rank % 2 != parity and comm.rank > 0:
            comm.recv(before, comm.rank - 1)
            comm.send(first, comm.rank - 1)
    return np.hstack([before, x, after])
