# task: gather
# loses: gather-check
# hint: the parts are in another order
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        return None
    pieces = np.array_split(whole, comm.size)
    received = [part]
    for source in range(comm.size):
        if source != root:
            received.append(comm.recv(np.empty_like(pieces[source]), source=source))
    return np.concatenate(received)
