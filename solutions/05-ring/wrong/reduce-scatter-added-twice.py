# task: reduce-scatter
# loses: reduce-scatter-check, reduce-scatter-uneven-check
# hint: came from another chunk, or was added twice
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - step - 1) % comm.size]
        received = comm.sendrecv(chunks[(comm.rank - step) % comm.size], right, recvbuf=room_for(mine), source=left)
        mine += received
        add(comm, mine, received)
    return x
