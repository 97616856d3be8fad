# task: gather
# loses: gather-check
# hint: with root=3 the root returned None
def gather(comm, part, whole, root=0):
    if comm.rank != 0:
        comm.send(part, dest=0)
        return None
    pieces = np.array_split(whole if whole is not None else np.empty(10, int), comm.size)
    for source in range(comm.size):
        if source == 0:
            pieces[source][...] = part
        else:
            comm.recv(pieces[source], source=source)
    return whole
