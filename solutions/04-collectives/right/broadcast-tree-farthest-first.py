# task: broadcast-tree
def broadcast_tree(comm, x, root=0):
    place = (comm.rank - root) % comm.size
    bit = 1
    while bit < comm.size and not place & bit:
        bit *= 2
    if place > 0:
        comm.recv(x, source=(comm.rank - bit) % comm.size)
    while bit > 1:
        bit //= 2
        if place + bit < comm.size:
            comm.send(x, dest=(comm.rank + bit) % comm.size)
    return x
