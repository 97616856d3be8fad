# task: shift-sendrecv
# loses: shift-sendrecv-check
# hint: sendrecv needs both sides
def shift_sendrecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    return comm.sendrecv(x, dest=right, source=left)
