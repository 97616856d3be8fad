# task: reduce-scatter
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    total = reduce(comm, x, op, root=0)
    part = np.empty_like(np.array_split(x, comm.size)[comm.rank])
    return scatter(comm, total, part, root=0)
