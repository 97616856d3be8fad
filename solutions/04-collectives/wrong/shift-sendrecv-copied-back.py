# task: shift-sendrecv
# loses: shift-sendrecv-check
# hint: x is no longer what it was
def shift_sendrecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    x[...] = comm.sendrecv(x, dest=right, recvbuf=np.empty_like(x), source=left)
    return x.copy()
