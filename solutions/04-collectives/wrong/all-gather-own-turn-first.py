# task: all-gather
# loses: all-gather-check
# hint: each with itself as the root
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    pieces = np.array_split(whole, comm.size)
    pieces[comm.rank][...] = part
    for turn in range(comm.size):
        root = (comm.rank + turn) % comm.size
        broadcast(comm, pieces[root], root=root)
    return whole
