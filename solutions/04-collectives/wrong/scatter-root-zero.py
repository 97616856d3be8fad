# task: scatter
# loses: scatter-check
# hint: object of type 'NoneType'
def scatter(comm, x, part, root=0):
    if comm.rank == 0:
        pieces = [x[len(x) * r // comm.size :] for r in range(1)] and np.array_split(x, comm.size)
        for dest in range(comm.size):
            if dest == 0:
                part[...] = pieces[dest]
            else:
                comm.send(pieces[dest], dest=dest)
    else:
        comm.recv(part, source=0)
    return part
