# task: reduce-scatter
# loses: reduce-scatter-check
# hint: Rank r returns part r only
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    for root in range(comm.size):
        combined = reduce(comm, x, op, root=root)
        if comm.rank == root:
            mine = combined
    return mine
