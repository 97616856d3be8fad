# task: scatter
# loses: scatter-check
# hint: Rank 2 raised MessageMismatch: the size differs: rank 0 sent 3
def scatter(comm, x, part, root=0):
    if comm.rank == root:
        pieces = np.array_split(x, comm.size)[::-1]
        for dest in range(comm.size):
            if dest == root:
                part[: len(pieces[dest])] = pieces[dest]
            else:
                comm.send(pieces[dest], dest=dest)
    else:
        comm.recv(part, source=root)
    return part
