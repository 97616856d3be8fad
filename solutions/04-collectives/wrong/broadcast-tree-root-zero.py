# task: broadcast-tree
# loses: broadcast-tree-check
# hint: by counting places from it
def broadcast_tree(comm, x, root=0):
    distance = 1
    while distance < comm.size:
        if comm.rank < distance:
            if comm.rank + distance < comm.size:
                comm.send(x, dest=comm.rank + distance)
        elif comm.rank < 2 * distance:
            comm.recv(x, source=comm.rank - distance)
        distance *= 2
    return x
