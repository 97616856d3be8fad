# task: halo
def halo(comm, x, width):
    rows, nodes = x.shape
    wide = np.zeros((rows, nodes + 2 * width))
    wide[:, width : width + nodes] = x
    left, right, requests = np.zeros((rows, width)), np.zeros((rows, width)), []
    if comm.rank > 0:
        requests += [comm.irecv(left, comm.rank - 1), comm.isend(x[:, :width].copy(), comm.rank - 1)]
    if comm.rank < comm.size - 1:
        requests += [comm.irecv(right, comm.rank + 1), comm.isend(x[:, nodes - width :].copy(), comm.rank + 1)]
    comm.waitall(requests)
    return np.concatenate([left, x, right], axis=1)
