# task: all-gather
# loses: all-gather-check
# hint: could not broadcast input array
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    length = len(whole) // comm.size
    pieces = [whole[r * length : (r + 1) * length] for r in range(comm.size)]
    pieces[comm.rank][...] = part
    for root in range(comm.size):
        broadcast(comm, pieces[root], root=root)
    return whole
