# task: map-reduce
# loses: map-reduce-check
# hint: the reducer ran before the shuffle
def map_reduce(comm, shard, mapper, reducer, combiner=None, model=None):
    keys, values = mapper(shard, model)
    keys, values = reduce_by_key(keys, values, reducer if combiner is not None else add)
    ranks = home(keys, comm.size)
    parts = [(keys[ranks == rank], values[ranks == rank]) for rank in range(comm.size)]
    keys, values = mapreduce.exchange(comm, parts)
    return reduce_by_key(keys, values, reducer)
