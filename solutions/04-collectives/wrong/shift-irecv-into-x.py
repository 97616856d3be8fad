# task: shift-irecv
# loses: shift-irecv-check
# hint: receive into `got`, not into x
def shift_irecv(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    request = comm.irecv(x, source=left)
    comm.send(x, dest=right)
    return request.wait()
