# task: halo
# loses: halo-check
# hint: by hand
def halo(comm, x, width):
    rows, nodes = x.shape
    wide = np.zeros((rows, nodes + 2 * width))
    wide[:, width : width + nodes] = x
    before, after = np.zeros((2, rows, width))
    left = comm.rank - 1 if comm.rank > 0 else PROC_NULL
    right = comm.rank + 1 if comm.rank < comm.size - 1 else PROC_NULL
    comm.sendrecv(x[:, nodes - width :].copy(), right, recvbuf=before, source=left)
    wide[:, :width] = before
    return wide
