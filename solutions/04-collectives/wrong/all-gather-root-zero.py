# task: all-gather
# loses: all-gather-check
# hint: all ranks have rank 0's part, but not the others
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    pieces = np.array_split(whole, comm.size)
    pieces[comm.rank][...] = part
    for r in range(comm.size):
        broadcast(comm, pieces[r], root=0)
    return whole
