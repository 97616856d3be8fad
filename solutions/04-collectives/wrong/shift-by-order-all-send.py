# task: shift-by-order
# loses: shift-by-order-check
# hint: all send and none of them receives
def shift_by_order(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    comm.send(x, dest=right)
    comm.recv(got, source=left)
    return got
