# task: all-reduce
# loses: all-reduce-check
# hint: a message is an array, and this is None
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    total = reduce(comm, x, op, root=0)
    return broadcast(comm, total, root=0)
