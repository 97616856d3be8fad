# task: scatter
# loses: scatter-check
# hint: Rank 0 sends to itself
def scatter(comm, x, part, root=0):
    if comm.rank == root:
        pieces = np.array_split(x, comm.size)
        for dest in range(comm.size):
            if dest == root:
                comm.send(pieces[dest], dest=dest)
            else:
                comm.send(pieces[dest], dest=dest)
    else:
        comm.recv(part, source=root)
    return part
