# task: broadcast-loop
# loses: broadcast-loop-check
# hint: ranks [0, 1, 2, 3] gave back nothing
def broadcast_loop(comm, x, root=0):
    if comm.rank == root:
        for dest in range(comm.size):
            if dest != root:
                comm.send(x, dest=dest)
    else:
        x = comm.recv(x, source=root)
