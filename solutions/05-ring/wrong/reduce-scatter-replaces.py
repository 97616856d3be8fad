# task: reduce-scatter
# loses: reduce-scatter-check, reduce-scatter-uneven-check
# hint: You replaced where you must add
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - step - 1) % comm.size]
        comm.sendrecv(chunks[(comm.rank - step) % comm.size], dest=right, recvbuf=mine, source=left)
    return x
