# task: all-gather
# loses: all-gather-check
# hint: `whole` has 8 entries
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    pieces = np.array_split(whole, comm.size)
    pieces[comm.rank][...] = part
    for root in range(comm.size):
        broadcast(comm, pieces[root], root=root)
    return part
