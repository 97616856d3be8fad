# task: gather
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        return None
    pieces = np.array_split(whole, comm.size)
    pieces[root][:] = part
    requests = [comm.irecv(pieces[r], source=r) for r in range(comm.size) if r != root]
    for request in requests:
        request.wait()
    return whole
