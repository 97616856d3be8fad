# task: reduce-scatter
# loses: reduce-scatter-uneven-check
# hint: are in none of them
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    length = len(x) // comm.size
    chunks = [x[k * length : (k + 1) * length] for k in range(comm.size)]
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - step - 1) % comm.size]
        add(
            comm,
            mine,
            comm.sendrecv(chunks[(comm.rank - step) % comm.size], right, recvbuf=room_for(mine), source=left),
        )
    return x
