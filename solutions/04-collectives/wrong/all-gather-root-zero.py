# task: all-gather
# loses: all-gather-check
# hint: when it is rank r's turn, the root is r
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    pieces = np.array_split(whole, comm.size)
    pieces[comm.rank][...] = part
    for r in range(comm.size):
        broadcast(comm, pieces[r], root=0)
    return whole
