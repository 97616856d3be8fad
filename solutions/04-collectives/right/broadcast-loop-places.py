# task: broadcast-loop
def broadcast_loop(comm, x, root=0):
    for distance in range(1, comm.size):
        other = (root + distance) % comm.size
        if comm.rank == root:
            comm.send(x, dest=other)
        elif comm.rank == other:
            comm.recv(x, source=root)
    return x
