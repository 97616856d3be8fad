# task: all-gather
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    gather(comm, part, whole, root=0)
    return broadcast(comm, whole, root=0)
