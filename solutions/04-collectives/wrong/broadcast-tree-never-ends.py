# task: broadcast-tree
# loses: broadcast-tree-check
# hint: Look for a loop that never ends
def broadcast_tree(comm, x, root=0):
    place = (comm.rank - root) % comm.size
    distance = 1
    while distance < comm.size:
        if place < distance:
            if place + distance < comm.size and distance == 1:
                comm.send(x, dest=(place + distance + root) % comm.size)
        elif place < 2 * distance and distance == 1:
            comm.recv(x, source=(place - distance + root) % comm.size)
    return x
