# task: broadcast-tree
# loses: broadcast-tree-check
# hint: or did the rounds stop too early
def broadcast_tree(comm, x, root=0):
    place = (comm.rank - root) % comm.size
    distance = 1
    while 2 * distance < comm.size:
        if place < distance:
            if place + distance < comm.size:
                comm.send(x, dest=(place + distance + root) % comm.size)
        elif place < 2 * distance:
            comm.recv(x, source=(place - distance + root) % comm.size)
        distance *= 2
    return x
