# task: map-reduce
def map_reduce(comm, shard, mapper, reducer, combiner=None, model=None):
    records = mapper(shard, model)
    if combiner:
        records = reduce_by_key(*records, combiner)
    to = home(records[0], comm.size)
    parts = []
    for rank in range(comm.size):
        mine = np.flatnonzero(to == rank)
        parts.append((records[0][mine], records[1][mine]))
    return reduce_by_key(*mapreduce.exchange(comm, parts), reducer)
