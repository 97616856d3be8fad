# task: all-reduce
# loses: all-reduce-check
# hint: not a NoneType
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    total = reduce(comm, x, op, root=0)
    return broadcast(comm, total, root=0)
