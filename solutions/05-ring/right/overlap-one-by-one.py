# task: overlap
def overlap_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    chunks = [np.array_split(chunk, 2) for chunk in np.array_split(x, comm.size)]
    for step in range(comm.size - 1):
        sent, mine = chunks[(comm.rank - step) % comm.size], chunks[(comm.rank - step - 1) % comm.size]
        first, second = room_for(mine[0]), room_for(mine[1])
        in_first, in_second = comm.irecv(first, source=left), comm.irecv(second, source=left)
        out_first, out_second = comm.isend(sent[0], dest=right), comm.isend(sent[1], dest=right)
        in_first.wait()
        add(comm, mine[0], first)
        in_second.wait()
        add(comm, mine[1], second)
        out_first.wait()
        out_second.wait()
    return x
