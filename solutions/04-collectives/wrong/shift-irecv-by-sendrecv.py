# task: shift-irecv
# loses: shift-irecv-check
# hint: begins to receive with comm.irecv
def shift_irecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    return comm.sendrecv(x, dest=right, recvbuf=np.empty_like(x), source=left)
