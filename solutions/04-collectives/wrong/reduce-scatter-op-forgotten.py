# task: reduce-scatter
# loses: reduce-scatter-check
# hint: reduce_scatter still adds
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    pieces = np.array_split(x, comm.size)
    for root in range(comm.size):
        combined = reduce(comm, pieces[root], root=root)
        if comm.rank == root:
            mine = combined
    return mine
