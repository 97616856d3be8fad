# task: scatter
# loses: scatter-check
# hint: a block of neighbouring entries
def scatter(comm, x, part, root=0):
    if comm.rank == root:
        pieces = [x[r :: comm.size] for r in range(comm.size)]
        for dest in range(comm.size):
            if dest == root:
                part[...] = pieces[dest]
            else:
                comm.send(pieces[dest], dest=dest)
    else:
        comm.recv(part, source=root)
    return part
