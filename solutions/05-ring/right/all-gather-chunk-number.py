# task: all-gather
def ring_all_gather(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    k = right
    for _ in range(comm.size - 1):
        request = comm.irecv(chunks[(k - 1) % comm.size], source=left)
        comm.send(chunks[k], dest=right)
        request.wait()
        k = (k - 1) % comm.size
    return x
