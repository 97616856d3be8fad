# task: all-gather
def ring_all_gather(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    chunk = chunks[(comm.rank + 1) % comm.size].copy()
    for step in range(comm.size - 1):
        place = (comm.rank - step) % comm.size
        chunk = comm.sendrecv(chunk, dest=right, recvbuf=np.empty_like(chunks[place]), source=left)
        chunks[place][...] = chunk
    return x
