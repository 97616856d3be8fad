# task: reduce-scatter
# loses: reduce-scatter-uneven-check
# hint: recvbuf=room_for(sent)
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent, mine = chunks[(comm.rank - step) % comm.size], chunks[(comm.rank - step - 1) % comm.size]
        add(comm, mine, comm.sendrecv(sent, dest=right, recvbuf=room_for(sent), source=left))
    return x
