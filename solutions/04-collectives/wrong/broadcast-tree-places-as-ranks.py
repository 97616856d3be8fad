# task: broadcast-tree
# loses: broadcast-tree-check
# hint: A place is used as a rank number
def broadcast_tree(comm, x, root=0):
    place = (comm.rank - root) % comm.size
    distance = 1
    while distance < comm.size:
        if place < distance:
            if place + distance < comm.size:
                comm.send(x, dest=place + distance)
        elif place < 2 * distance:
            comm.recv(x, source=place - distance)
        distance *= 2
    return x
