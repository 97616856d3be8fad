# task: overlap
# loses: overlap-check
# hint: whole chunks
def overlap_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - step - 1) % comm.size]
        request = comm.irecv(room_for(mine), source=left)
        leaving = comm.isend(chunks[(comm.rank - step) % comm.size], dest=right)
        add(comm, mine, request.wait())
        leaving.wait()
    return x
