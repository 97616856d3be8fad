# task: shift-by-order
# loses: shift-by-order-check
# hint: shift_by_order returned the right neighbour's array
def shift_by_order(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    if comm.size == 1:
        return x.copy()
    if comm.rank % 2 == 0:
        comm.send(x, dest=left)
        comm.recv(got, source=right)
    else:
        comm.recv(got, source=right)
        comm.send(x, dest=left)
    return got
