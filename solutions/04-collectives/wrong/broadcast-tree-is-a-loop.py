# task: broadcast-tree
# loses: broadcast-tree-check
# hint: this is a loop
def broadcast_tree(comm, x, root=0):
    if comm.rank == root:
        for dest in range(comm.size):
            if dest != root:
                comm.send(x, dest=dest)
    else:
        comm.recv(x, source=root)
    return x
