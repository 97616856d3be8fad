# task: gather
def gather(comm, part, whole, root=0):
    if comm.rank == root:
        pieces = [np.empty_like(piece) for piece in np.array_split(whole, comm.size)]
        for r in range(comm.size):
            pieces[r] = part if r == root else comm.recv(pieces[r], source=r)
        return np.concatenate(pieces)
    comm.send(part, dest=root)
    return None
