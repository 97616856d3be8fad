# task: gather
# loses: gather-check
# hint: Rank 1 sends to rank 0, which has returned without receiving it
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        comm.send(part, dest=root)
        return None
    pieces = np.array_split(whole, comm.size)
    for source in range(comm.size):
        if source == root:
            pieces[source][...] = part
        else:
            comm.recv(pieces[source], source=source)
    return whole
