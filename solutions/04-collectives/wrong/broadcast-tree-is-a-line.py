# task: broadcast-tree
# loses: broadcast-tree-check
# hint: 4 ranks need 2 steps; yours takes 3
def broadcast_tree(comm, x, root=0):
    place = (comm.rank - root) % comm.size
    if place > 0:
        comm.recv(x, source=(comm.rank - 1) % comm.size)
    if place < comm.size - 1:
        comm.send(x, dest=(comm.rank + 1) % comm.size)
    return x
