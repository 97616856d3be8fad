# task: gather
# loses: gather-check
# hint: own part is missing in `whole`
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        return None
    pieces = np.array_split(whole, comm.size)
    for source in range(comm.size):
        if source == root:
            pass
        else:
            comm.recv(pieces[source], source=source)
    return whole
