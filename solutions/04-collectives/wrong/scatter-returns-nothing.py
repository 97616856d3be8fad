# task: scatter
# loses: scatter-check
# hint: ranks [0, 1, 2, 3] returned None: scatter
def scatter(comm, x, part, root=0):
    if comm.rank == root:
        pieces = np.array_split(x, comm.size)
        for dest in range(comm.size):
            if dest == root:
                part[...] = pieces[dest]
            else:
                comm.send(pieces[dest], dest=dest)
    else:
        comm.recv(part, source=root)
    print(part)
