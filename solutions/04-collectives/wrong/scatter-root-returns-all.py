# task: scatter
# loses: scatter-check
# hint: it keeps only its part, too
def scatter(comm, x, part, root=0):
    if comm.rank == root:
        pieces = np.array_split(x, comm.size)
        for dest in range(comm.size):
            if dest == root:
                part = x
            else:
                comm.send(pieces[dest], dest=dest)
    else:
        comm.recv(part, source=root)
    return part
