# task: shift-irecv
# loses: shift-irecv-check
# hint: returned without waiting for its irecv
def shift_irecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    comm.irecv(got, source=left)
    comm.send(x, dest=right)
    return got
