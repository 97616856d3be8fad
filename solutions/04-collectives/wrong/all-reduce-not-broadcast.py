# task: all-reduce
# loses: all-reduce-check
# hint: every rank returns what the broadcast returns
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    return reduce(comm, x, op, root=0)
