# task: overlap
# loses: overlap-check
# hint: returned None
def overlap_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [np.array_split(chunk, 2) for chunk in np.array_split(x, comm.size)]
    for step in range(comm.size - 1):
        sent, mine = chunks[(comm.rank - step) % comm.size], chunks[(comm.rank - step - 1) % comm.size]
        arriving = [comm.irecv(room_for(half), source=left) for half in mine]
        leaving = [comm.isend(half, dest=right) for half in sent]
        for half, request in zip(mine, arriving, strict=True):
            add(comm, half, request.wait())
        for request in leaving:
            request.wait()
