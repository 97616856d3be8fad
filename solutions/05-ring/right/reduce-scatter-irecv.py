# task: reduce-scatter
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - step - 1) % comm.size]
        request = comm.irecv(np.empty_like(mine), source=left)
        comm.send(chunks[chunk_to_send(comm.rank, step, comm.size)], dest=right)
        mine += request.wait()
    return x
