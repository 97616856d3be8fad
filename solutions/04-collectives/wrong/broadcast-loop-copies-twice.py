# task: broadcast-loop
# loses: broadcast-loop-check
# hint: Rank 0 sends to rank 1, which has returned without receiving it: one send too many
def broadcast_loop(comm, x, root=0):
    if comm.rank == root:
        for dest in range(comm.size):
            if dest != root:
                comm.send(x, dest=dest)
                comm.send(x, dest=dest)
    else:
        comm.recv(x, source=root)
    return x
