# task: shift-irecv
# loses: shift-irecv-check
# hint: shift_irecv returned the right neighbour's array
def shift_irecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    got = np.empty_like(x)
    request = comm.irecv(got, source=right)
    comm.send(x, dest=left)
    request.wait()
    return got
