# task: shift-sendrecv
# loses: shift-sendrecv-check
# hint: wait
def shift_sendrecv(comm, x):
    right = (comm.rank + 1) % comm.size
    return comm.sendrecv(x, dest=right, recvbuf=np.empty_like(x), source=right)
