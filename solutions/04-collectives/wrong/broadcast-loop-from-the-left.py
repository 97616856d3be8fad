# task: broadcast-loop
# loses: broadcast-loop-check
# hint: which has returned without sending it
def broadcast_loop(comm, x, root=0):
    if comm.rank == root:
        for dest in range(comm.size):
            if dest != root:
                comm.send(x, dest=dest)
    else:
        comm.recv(x, source=(comm.rank - 1) % comm.size)
    return x
