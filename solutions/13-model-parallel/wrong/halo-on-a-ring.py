# task: halo
# loses: halo-check
# hint: The nodes lie in a row, not on a ring
def halo(comm, x, width):
    rows, nodes = x.shape
    wide = np.zeros((rows, nodes + 2 * width))
    wide[:, width : width + nodes] = x
    before, after = np.zeros((2, rows, width))
    left = (comm.rank - 1) % comm.size
    right = (comm.rank + 1) % comm.size
    comm.sendrecv(x[:, nodes - width :].copy(), right, recvbuf=before, source=left)
    comm.sendrecv(x[:, :width].copy(), left, recvbuf=after, source=right)
    wide[:, :width], wide[:, width + nodes :] = before, after
    return wide
