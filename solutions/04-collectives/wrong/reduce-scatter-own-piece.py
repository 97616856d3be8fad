# task: reduce-scatter
# loses: reduce-scatter-check
# hint: each rank returned a piece of its own x
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    pieces = np.array_split(x, comm.size)
    for root in range(comm.size):
        reduce(comm, pieces[root], op, root=root)
    return pieces[comm.rank]
