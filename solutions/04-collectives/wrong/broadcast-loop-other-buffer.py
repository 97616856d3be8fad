# task: broadcast-loop
# loses: broadcast-loop-check
# hint: return their own array: receive into x
def broadcast_loop(comm, x, root=0):
    if comm.rank == root:
        for dest in range(comm.size):
            if dest != root:
                comm.send(x, dest=dest)
    else:
        comm.recv(np.empty_like(x), source=root)
    return x
