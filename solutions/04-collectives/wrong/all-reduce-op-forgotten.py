# task: all-reduce
# loses: all-reduce-check
# hint: you still get the sum: pass `op` on
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    total = reduce(comm, x, root=0)
    if comm.rank != 0:
        total = np.empty_like(x)
    return broadcast(comm, total, root=0)
