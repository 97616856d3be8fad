# task: reduce-scatter
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent, mine = chunks[(comm.rank - step) % comm.size], chunks[(comm.rank - step - 1) % comm.size]
        leaving = comm.isend(sent, dest=right) if len(sent) else None
        if len(mine):
            add(comm, mine, comm.recv(room_for(mine), source=left))
        if leaving:
            leaving.wait()
    return x
