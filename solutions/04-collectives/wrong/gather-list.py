# task: gather
# loses: gather-check
# hint: should return one array, `whole`
def gather(comm, part, whole, root=0):
    if comm.rank != root:
        comm.send(part, dest=root)
        return None
    pieces = np.array_split(whole, comm.size)
    return [part if r == root else comm.recv(pieces[r], source=r) for r in range(comm.size)]
