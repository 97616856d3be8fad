# task: all-reduce
# loses: all-reduce-check
# hint: was overwritten by the broadcast
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    total = reduce(comm, x, op, root=0)
    if comm.rank != 0:
        total = x
    return broadcast(comm, total, root=0)
