# task: broadcast-tree
# loses: broadcast-tree-check
# hint: Rank 2 sends to rank 0, which has returned without receiving it
def broadcast_tree(comm, x, root=0):
    place = (comm.rank - root) % comm.size
    distance = 1
    while distance < comm.size:
        if place < distance:
            comm.send(x, dest=(place + distance + root) % comm.size)
        elif place < 2 * distance:
            comm.recv(x, source=(place - distance + root) % comm.size)
        distance *= 2
    return x
