# task: all-gather
# loses: all-gather-check
# hint: added where you must replace
def ring_all_gather(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        mine = chunks[(comm.rank - step) % comm.size]
        add(
            comm,
            mine,
            comm.sendrecv(chunks[(comm.rank + 1 - step) % comm.size], right, recvbuf=room_for(mine), source=left),
        )
    return x
