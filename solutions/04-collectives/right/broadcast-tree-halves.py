# task: broadcast-tree
def broadcast_tree(comm, x, root=0):
    place = (comm.rank - root) % comm.size

    def rank_at(p):
        return (p + root) % comm.size

    low, high = 0, comm.size  # low has x, and is to bring it to all places below high
    while high - low > 1:
        middle = low + (high - low + 1) // 2
        if place == low:
            comm.send(x, dest=rank_at(middle))
        elif place == middle:
            comm.recv(x, source=rank_at(low))
        if place < middle:
            high = middle
        else:
            low = middle
    return x
