# task: broadcast-loop
# loses: broadcast-loop-check
# hint: all send and none of them receives
def broadcast_loop(comm, x, root=0):
    if comm.rank != root:
        comm.recv(x, source=root)
    for dest in range(comm.size):
        if dest != root and dest != comm.rank:
            comm.send(x, dest=dest)
    return x
