# task: shift-by-order
def shift_by_order(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    if right == comm.rank:
        got[...] = x
    elif comm.rank % 2:
        comm.send(x, right)
        comm.recv(got, left)
    else:
        comm.recv(got, left)
        comm.send(x, right)
    return got
