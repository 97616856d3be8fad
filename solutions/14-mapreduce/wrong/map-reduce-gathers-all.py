# task: map-reduce
# loses: map-reduce-check
# hint: a combiner: only records whose home is another rank
def map_reduce(comm, shard, mapper, reducer, combiner=None, model=None):
    keys, values = mapper(shard, model)
    if combiner is not None:
        keys, values = reduce_by_key(keys, values, combiner)
    keys, values = mapreduce.exchange(comm, [(keys, values)] * comm.size)
    mine = home(keys, comm.size) == comm.rank
    return reduce_by_key(keys[mine], values[mine], reducer)
