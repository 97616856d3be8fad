# task: reduce-scatter
# loses: reduce-scatter-check
# hint: the parts of the sum are
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    length = len(x) // comm.size
    for root in range(comm.size):
        combined = reduce(comm, x[root * length : (root + 1) * length], op, root=root)
        if comm.rank == root:
            mine = combined
    return mine
