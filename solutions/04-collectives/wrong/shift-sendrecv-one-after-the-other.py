# task: shift-sendrecv
# loses: shift-sendrecv-check
# hint: all send and none of them receives
def shift_sendrecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    comm.send(x, dest=right)
    return comm.recv(np.empty_like(x), source=left)
