# task: reduce-scatter
# loses: reduce-scatter-check, reduce-scatter-uneven-check
# hint: nothing was added to it
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    mine = chunks[(comm.rank - 1) % comm.size]
    for _ in range(comm.size - 1):
        add(comm, mine, comm.sendrecv(chunks[comm.rank], dest=right, recvbuf=room_for(mine), source=left))
    return x
