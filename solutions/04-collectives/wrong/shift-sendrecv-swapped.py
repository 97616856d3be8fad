# task: shift-sendrecv
# loses: shift-sendrecv-check
# hint: dest is the right one, source the left
def shift_sendrecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    return comm.sendrecv(x, dest=left, recvbuf=np.empty_like(x), source=right)
