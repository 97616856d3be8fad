# task: all-gather
# loses: all-gather-check
# hint: each with itself as the root
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    pieces = np.array_split(whole, comm.size)
    pieces[comm.rank][...] = part
    broadcast(comm, pieces[comm.rank], root=comm.rank)
    return whole
