# task: overlap
# loses: overlap-check
# hint: wrong in
def overlap_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [np.array_split(chunk, 2) for chunk in np.array_split(x, comm.size)]
    for step in range(comm.size - 1):
        sent, mine = chunks[(comm.rank - step) % comm.size], chunks[(comm.rank - step - 1) % comm.size]
        buffers = [room_for(half) for half in mine]
        for buffer in buffers:
            buffer[...] = 0
        requests = [comm.irecv(buffer, source=left) for buffer in buffers]
        requests += [comm.isend(half, dest=right) for half in sent]
        for half, buffer in zip(mine, buffers, strict=True):
            add(comm, half, buffer)
        for request in requests:
            request.wait()
    return x
