# task: reduce-scatter
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent, mine = chunks[(comm.rank - step) % comm.size], chunks[(comm.rank - step - 1) % comm.size]
        received = room_for(mine)
        if comm.rank % 2 == 0:
            comm.send(sent, dest=right)
            comm.recv(received, source=left)
        else:
            comm.recv(received, source=left)
            comm.send(sent, dest=right)
        add(comm, mine, received)
    return x
