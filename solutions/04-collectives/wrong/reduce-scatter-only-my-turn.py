# task: reduce-scatter
# loses: reduce-scatter-check
# hint: each with itself as the root
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    pieces = np.array_split(x, comm.size)
    return reduce(comm, pieces[comm.rank], op, root=comm.rank)
