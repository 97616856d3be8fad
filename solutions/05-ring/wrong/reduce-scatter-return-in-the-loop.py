# task: reduce-scatter
# loses: reduce-scatter-check, reduce-scatter-uneven-check
# hint: Is `return x` inside the loop?
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - step - 1) % comm.size]
        add(
            comm,
            mine,
            comm.sendrecv(chunks[(comm.rank - step) % comm.size], right, recvbuf=room_for(mine), source=left),
        )
        return x
