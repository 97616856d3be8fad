# task: gather
# loses: gather-check
# hint: when a message is late, parts land
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        return None
    pieces = np.array_split(whole, comm.size)
    for source in range(comm.size):
        if source == root:
            pieces[source][...] = part
        else:
            comm.recv(pieces[source])
    return whole
