# task: overlap
# loses: overlap-check
# hint: must be on its way while the first is added
def overlap_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [np.array_split(chunk, 2) for chunk in np.array_split(x, comm.size)]
    for step in range(comm.size - 1):
        sent, mine = chunks[(comm.rank - step) % comm.size], chunks[(comm.rank - step - 1) % comm.size]
        for half, out in zip(mine, sent, strict=True):
            add(comm, half, comm.sendrecv(out, dest=right, recvbuf=room_for(half), source=left))
    return x
