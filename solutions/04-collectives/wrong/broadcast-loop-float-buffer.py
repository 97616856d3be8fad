# task: broadcast-loop
# loses: broadcast-loop-check
# hint: the dtype differs
def broadcast_loop(comm, x, root=0):
    if comm.rank == root:
        for dest in range(comm.size):
            if dest != root:
                comm.send(x, dest=dest)
        return x
    return comm.recv(np.empty(x.shape), source=root)
