# task: map-reduce
# loses: map-reduce-check
# hint: but their homes are
def map_reduce(comm, shard, mapper, reducer, combiner=None, model=None):
    keys, values = mapper(shard, model)
    if combiner is not None:
        keys, values = reduce_by_key(keys, values, combiner)
    ranks = home(keys, comm.size)
    parts = [
        (keys[(ranks + 1) % comm.size == rank], values[(ranks + 1) % comm.size == rank]) for rank in range(comm.size)
    ]
    keys, values = mapreduce.exchange(comm, parts)
    return reduce_by_key(keys, values, reducer)
