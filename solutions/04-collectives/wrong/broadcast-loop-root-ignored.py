# task: broadcast-loop
# loses: broadcast-loop-check
# hint: your function ignores the argument `root`
def broadcast_loop(comm, x, root=0):
    if comm.rank == 0:
        for dest in range(1, comm.size):
            comm.send(x, dest=dest)
    else:
        comm.recv(x, source=0)
    return x
