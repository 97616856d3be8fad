# task: scatter
def scatter(comm, x, part, root=0):
    if comm.rank != root:
        return comm.recv(part, source=root)
    pieces = np.array_split(x, comm.size)
    requests = [comm.isend(pieces[r], dest=r) for r in range(comm.size) if r != root]
    for request in requests:
        request.wait()
    return pieces[root]
