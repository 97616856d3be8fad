# task: reduce-scatter
# loses: reduce-scatter-check
# hint: in this rank's own turn
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    pieces = np.array_split(x, comm.size)
    for root in range(comm.size):
        mine = reduce(comm, pieces[root], op, root=root)
    return mine
