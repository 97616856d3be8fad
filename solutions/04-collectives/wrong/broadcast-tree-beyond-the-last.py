# task: broadcast-tree
# loses: broadcast-tree-check
# hint: there is no such rank
def broadcast_tree(comm, x, root=0):
    place = (comm.rank - root) % comm.size
    distance = 1
    while distance < comm.size:
        if place < distance:
            comm.send(x, dest=comm.rank + distance)
        elif place < 2 * distance:
            comm.recv(x, source=comm.rank - distance)
        distance *= 2
    return x
