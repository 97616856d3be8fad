# task: shift-sendrecv
# loses: shift-sendrecv-check
# hint: recvbuf must be another array than x
def shift_sendrecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    return comm.sendrecv(x, dest=right, recvbuf=x, source=left)
