# task: gather
# loses: gather-check
# hint: or copy into them with pieces[r]
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        return None
    pieces = np.array_split(whole, comm.size)
    for source in range(comm.size):
        if source == root:
            pieces[source] = part
        else:
            pieces[source] = comm.recv(np.empty_like(pieces[source]), source=source)
    return whole
