# task: broadcast-tree
# loses: broadcast-tree-check
# hint: wait for one another in a circle
def broadcast_tree(comm, x, root=0):
    place = (comm.rank - root) % comm.size
    distance = 1
    while distance < comm.size:
        if place < distance:
            if place + distance < comm.size:
                comm.send(x, dest=(place + distance + root) % comm.size)
        else:
            comm.recv(x, source=(place - distance + root) % comm.size)
        distance *= 2
    return x
