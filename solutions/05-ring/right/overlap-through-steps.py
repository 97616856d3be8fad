# task: overlap
def overlap_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [np.array_split(chunk, 2) for chunk in np.array_split(x, comm.size)]
    leaving = [comm.isend(half, dest=right) for half in chunks[comm.rank]] if comm.size > 1 else []
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - step - 1) % comm.size]
        arriving = [comm.irecv(room_for(half), source=left) for half in mine]
        for half, request in zip(mine, arriving, strict=True):
            add(comm, half, request.wait())
            if step < comm.size - 2:
                leaving.append(comm.isend(half, dest=right))
    for request in leaving:
        request.wait()
    return x
