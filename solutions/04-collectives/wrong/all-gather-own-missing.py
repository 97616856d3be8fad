# task: all-gather
# loses: all-gather-check
# hint: your own part is not in it
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    pieces = np.array_split(whole, comm.size)
    for root in range(comm.size):
        broadcast(comm, pieces[root], root=root)
    return whole
