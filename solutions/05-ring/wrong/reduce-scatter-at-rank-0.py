# task: reduce-scatter
# loses: reduce-scatter-check, reduce-scatter-uneven-check
# hint: to its right neighbour and to nobody else
def ring_reduce_scatter(comm, x):
    if comm.rank > 0:
        comm.send(x, dest=0)
        comm.recv(x, source=0)
    else:
        for source in range(1, comm.size):
            x += comm.recv(room_for(x), source=source)
        for dest in range(1, comm.size):
            comm.send(x, dest=dest)
    return x
