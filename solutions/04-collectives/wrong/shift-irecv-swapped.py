# task: shift-irecv
# loses: shift-irecv-check
# hint: dest is the right one, source the left
def shift_irecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    request = comm.irecv(got, source=right)
    comm.send(x, dest=left)
    request.wait()
    return got
