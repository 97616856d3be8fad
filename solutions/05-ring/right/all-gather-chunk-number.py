# task: all-gather
def ring_all_gather(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    pieces = np.array_split(x, comm.size)
    k = right
    for _ in range(comm.size - 1):
        request = comm.irecv(pieces[(k - 1) % comm.size], source=left)
        comm.send(pieces[k], dest=right)
        request.wait()
        k = (k - 1) % comm.size
    return x
