# task: gather
# loses: gather-check
# hint: Only the root has all parts
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        return part
    pieces = np.array_split(whole, comm.size)
    for source in range(comm.size):
        if source == root:
            pieces[source][...] = part
        else:
            comm.recv(pieces[source], source=source)
    return whole
