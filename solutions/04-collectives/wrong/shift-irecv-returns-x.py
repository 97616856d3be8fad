# task: shift-irecv
# loses: shift-irecv-check
# hint: shift_irecv returns `got`
def shift_irecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    request = comm.irecv(got, source=left)
    comm.send(x, dest=right)
    request.wait()
    return x
