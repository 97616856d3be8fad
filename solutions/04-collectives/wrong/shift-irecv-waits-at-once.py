# task: shift-irecv
# loses: shift-irecv-check
# hint: all wait to receive from one another
def shift_irecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    comm.irecv(got, source=left).wait()
    comm.send(x, dest=right)
    return got
