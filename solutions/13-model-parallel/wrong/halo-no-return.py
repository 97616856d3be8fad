# task: halo
# loses: halo-check
# hint: halo returned None
def halo(comm, x, width):
    rows, nodes = x.shape
    wide = np.zeros((rows, nodes + 2 * width))
    wide[:, width : width + nodes] = x
    before, after = np.zeros((2, rows, width))
    left = comm.rank - 1 if comm.rank > 0 else PROC_NULL
    right = comm.rank + 1 if comm.rank < comm.size - 1 else PROC_NULL
    comm.sendrecv(x[:, nodes - width :].copy(), right, recvbuf=before, source=left)
    comm.sendrecv(x[:, :width].copy(), left, recvbuf=after, source=right)
    wide[:, :width], wide[:, width + nodes :] = before, after
