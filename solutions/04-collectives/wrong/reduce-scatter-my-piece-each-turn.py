# task: reduce-scatter
# loses: reduce-scatter-check
# hint: the same size and dtype to `reduce_line`
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    piece = np.array_split(x, comm.size)[comm.rank]
    for root in range(comm.size):
        combined = reduce(comm, piece, op, root=root)
        if comm.rank == root:
            mine = combined
    return mine
