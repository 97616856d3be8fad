# task: all-gather
# loses: all-gather-check
# hint: In step 0 rank r sends chunk r + 1, and
def ring_all_gather(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent, mine = chunks[(comm.rank - step) % comm.size], chunks[(comm.rank - step - 1) % comm.size]
        comm.sendrecv(sent, dest=right, recvbuf=mine, source=left)
    return x
