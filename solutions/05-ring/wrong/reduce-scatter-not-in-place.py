# task: reduce-scatter
# loses: reduce-scatter-check
# hint: x itself was not changed
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent, place = chunks[(comm.rank - step) % comm.size], (comm.rank - step - 1) % comm.size
        chunks[place] = chunks[place] + comm.sendrecv(sent, right, recvbuf=room_for(chunks[place]), source=left)
    return np.concatenate(chunks)
