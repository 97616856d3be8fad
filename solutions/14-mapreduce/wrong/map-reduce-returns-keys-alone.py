# task: map-reduce
# loses: map-reduce-check
# hint: map_reduce returns two arrays
def map_reduce(comm, shard, mapper, reducer, combiner=None, model=None):
    keys, values = mapper(shard, model)
    if combiner is not None:
        keys, values = reduce_by_key(keys, values, combiner)
    ranks = home(keys, comm.size)
    parts = [(keys[ranks == rank], values[ranks == rank]) for rank in range(comm.size)]
    keys, values = mapreduce.exchange(comm, parts)
    distinct, rows = reduce_by_key(keys, values, reducer)
    return distinct, rows, comm.rank
