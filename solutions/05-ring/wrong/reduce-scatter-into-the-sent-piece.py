# task: reduce-scatter
# loses: reduce-scatter-check, reduce-scatter-uneven-check
# hint: Do not receive into the piece that you send
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    pieces = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent = pieces[(comm.rank - step) % comm.size]
        received = comm.sendrecv(sent, dest=right, recvbuf=sent, source=left)
        add(comm, pieces[(comm.rank - step - 1) % comm.size], received)
    return x
