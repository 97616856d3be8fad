# task: broadcast-loop
# loses: broadcast-loop-check
# hint: Rank 2 sends to itself
def broadcast_loop(comm, x, root=0):
    if comm.rank == root:
        for dest in range(1, comm.size):
            comm.send(x, dest=dest)
    else:
        comm.recv(x, source=root)
    return x
