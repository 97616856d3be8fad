# task: shift-sendrecv
def shift_sendrecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.zeros(x.shape, x.dtype)
    comm.sendrecv(x, right, recvbuf=got, source=left)
    return got
