# task: reduce-scatter
# loses: reduce-scatter-check
# hint: x itself was not changed
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    pieces = np.array_split(x, comm.size)
    for step in range(comm.size - 1):
        sent, place = pieces[(comm.rank - step) % comm.size], (comm.rank - step - 1) % comm.size
        pieces[place] = pieces[place] + comm.sendrecv(sent, right, recvbuf=room_for(pieces[place]), source=left)
    return np.concatenate(pieces)
