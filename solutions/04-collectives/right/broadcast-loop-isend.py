# task: broadcast-loop
def broadcast_loop(comm, x, root=0):
    if comm.rank != root:
        return comm.recv(np.empty_like(x), source=root)
    requests = [comm.isend(x, dest=rank) for rank in range(comm.size) if rank != root]
    for request in requests:
        request.wait()
    return x
