# task: all-reduce
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    total = reduce(comm, x, op, root=0)
    return broadcast(comm, x.copy() if total is None else total)
