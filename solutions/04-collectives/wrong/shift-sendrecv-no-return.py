# task: shift-sendrecv
# loses: shift-sendrecv-check
# hint: gave back nothing
def shift_sendrecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.sendrecv(x, dest=right, recvbuf=np.empty_like(x), source=left)
