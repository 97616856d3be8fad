# task: reduce-scatter
# loses: reduce-scatter-check, reduce-scatter-uneven-check
# hint: begins by sending the chunk of its own number
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - step - 2) % comm.size]
        sent = chunks[(comm.rank - step - 1) % comm.size]
        add(comm, mine, comm.sendrecv(sent, right, recvbuf=room_for(mine), source=left))
    return x
