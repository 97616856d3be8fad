# task: shift-by-order
# loses: shift-by-order-check
# hint: with 1 ranks they should return
def shift_by_order(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    got[...] = -1
    if comm.size == 1:
        return got
    if comm.rank % 2 == 0:
        comm.send(x, dest=right)
        comm.recv(got, source=left)
    else:
        comm.recv(got, source=left)
        comm.send(x, dest=right)
    return got
