# task: all-gather
# loses: all-gather-check
# hint: Is `return x` inside the loop?
def ring_all_gather(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent, mine = chunks[(comm.rank + 1 - step) % comm.size], chunks[(comm.rank - step) % comm.size]
        comm.sendrecv(sent, dest=right, recvbuf=mine, source=left)
        return x
