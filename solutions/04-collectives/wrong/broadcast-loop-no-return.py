# task: broadcast-loop
# loses: broadcast-loop-check
# hint: broadcast_loop ends with `return x`
def broadcast_loop(comm, x, root=0):
    if comm.rank == root:
        for dest in range(comm.size):
            if dest != root:
                comm.send(x, dest=dest)
    else:
        x = comm.recv(x, source=root)
