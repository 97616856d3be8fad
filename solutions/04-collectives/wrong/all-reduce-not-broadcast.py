# task: all-reduce
# loses: all-reduce-check
# hint: ranks [1, 2, 3] gave back nothing
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    return reduce(comm, x, op, root=0)
