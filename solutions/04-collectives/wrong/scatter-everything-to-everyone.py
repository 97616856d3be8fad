# task: scatter
# loses: scatter-check
# hint: the size differs: rank 0 sent 10
def scatter(comm, x, part, root=0):
    if comm.rank == root:
        pieces = np.array_split(x, comm.size)
        for dest in range(comm.size):
            if dest == root:
                part[...] = pieces[dest]
            else:
                comm.send(x, dest=dest)
    else:
        comm.recv(part, source=root)
    return part
