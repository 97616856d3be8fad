# task: reduce-scatter
def reduce_scatter(comm, x, op=np.add, reduce=reduce):
    pieces = np.array_split(x, comm.size)
    return [reduce(comm, piece, op, root=r) for r, piece in enumerate(pieces)][comm.rank]
