# task: gather
# loses: gather-check
# hint: Rank 0 sends to itself
def gather(comm, part, whole, root=0):
    comm.send(part, dest=root)
    if comm.rank == root:
        for source, piece in enumerate(np.array_split(whole, comm.size)):
            comm.recv(piece, source=source)
        return whole
    return None
