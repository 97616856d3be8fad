# task: all-reduce
# loses: all-reduce-check
# hint: Did rank 1 skip `broadcast_line`
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    total = reduce(comm, x, op, root=0)
    if comm.rank == 0:
        broadcast(comm, total, root=0)
    return total
