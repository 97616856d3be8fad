# task: reduce-scatter
# loses: reduce-scatter-check
# hint: reduce_scatter writes into it
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    pieces = np.array_split(x, comm.size)
    for root in range(comm.size):
        combined = reduce(comm, pieces[root], op, root=root)
        if comm.rank == root:
            pieces[root][...] = combined
    return pieces[comm.rank]
