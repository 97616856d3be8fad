# task: map-reduce
# loses: map-reduce-check
# hint: is in the results of two ranks
def map_reduce(comm, shard, mapper, reducer, combiner=None, model=None):
    keys, values = mapper(shard, model)
    if combiner is not None:
        keys, values = reduce_by_key(keys, values, combiner)
    return reduce_by_key(keys, values, reducer)
