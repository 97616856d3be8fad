# task: all-gather
# loses: all-gather-check
# hint: x itself was not changed
def ring_all_gather(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent, place = chunks[(comm.rank + 1 - step) % comm.size], (comm.rank - step) % comm.size
        chunks[place] = comm.sendrecv(sent, dest=right, recvbuf=room_for(chunks[place]), source=left)
    return np.concatenate(chunks)
