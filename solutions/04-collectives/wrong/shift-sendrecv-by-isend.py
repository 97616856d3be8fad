# task: shift-sendrecv
# loses: shift-sendrecv-check
# hint: one call, comm.sendrecv
def shift_sendrecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    request = comm.isend(x, dest=right)
    got = comm.recv(np.empty_like(x), source=left)
    request.wait()
    return got
