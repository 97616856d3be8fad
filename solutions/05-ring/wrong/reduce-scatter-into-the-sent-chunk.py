# task: reduce-scatter
# loses: reduce-scatter-check, reduce-scatter-uneven-check
# hint: Do not receive into the chunk that you send
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent = chunks[(comm.rank - step) % comm.size]
        received = comm.sendrecv(sent, dest=right, recvbuf=sent, source=left)
        add(comm, chunks[(comm.rank - step - 1) % comm.size], received)
    return x
