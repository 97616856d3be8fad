# task: scatter
# loses: scatter-check
# hint: with root=0 each rank gets a block
def scatter(comm, x, part, root=0):
    if comm.rank == root:
        pieces = [x[r * (len(x) // comm.size) : (r + 1) * (len(x) // comm.size)] for r in range(comm.size)]
        for dest in range(comm.size):
            if dest == root:
                part[: len(pieces[dest])] = pieces[dest]
            else:
                comm.send(pieces[dest], dest=dest)
    else:
        comm.recv(part, source=root)
    return part
