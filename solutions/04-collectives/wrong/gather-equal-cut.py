# task: gather
# loses: gather-check
# hint: Rank 0 raised MessageMismatch: the size differs: rank 1 sent 3
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        return None
    pieces = [whole[r * (len(whole) // comm.size) : (r + 1) * (len(whole) // comm.size)] for r in range(comm.size)]
    for source in range(comm.size):
        if source == root:
            pieces[source][...] = part[: len(pieces[source])]
        else:
            comm.recv(pieces[source], source=source)
    return whole
