# task: gather
# loses: gather-check
# hint: the dtype differs
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        return None
    pieces = np.array_split(np.empty(whole.shape), comm.size)
    for source in range(comm.size):
        if source == root:
            pieces[source][...] = part
        else:
            comm.recv(pieces[source], source=source)
    return np.concatenate(pieces)
