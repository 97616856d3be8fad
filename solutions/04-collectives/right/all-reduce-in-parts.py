# task: all-reduce
def all_reduce(comm, x, op=np.add, reduce=reduce, broadcast=broadcast_tree):
    part = reduce_scatter(comm, x, op, reduce)
    return all_gather(comm, part, np.empty_like(x), broadcast)
