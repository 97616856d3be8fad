# task: all-gather
# loses: all-gather-check
# hint: all_gather did not fill `whole`
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    pieces = [piece.copy() for piece in np.array_split(whole, comm.size)]
    pieces[comm.rank][...] = part
    for root in range(comm.size):
        broadcast(comm, pieces[root], root=root)
    return whole
