# task: all-gather
# loses: all-gather-check
# hint: to its right neighbour and to nobody else
def ring_all_gather(comm, x):
    chunks = np.array_split(x, comm.size)
    for distance in range(1, comm.size):
        dest, source = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        comm.sendrecv(
            chunks[(comm.rank + 1) % comm.size], dest, recvbuf=chunks[(source + 1) % comm.size], source=source
        )
    return x
