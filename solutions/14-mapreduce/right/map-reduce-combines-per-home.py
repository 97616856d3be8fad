# task: map-reduce
def map_reduce(comm, shard, mapper, reducer, combiner=None, model=None):
    keys, values = mapper(shard, model)
    homes = home(keys, comm.size)
    parts = [(keys[homes == d], values[homes == d]) for d in range(comm.size)]
    if combiner is not None:
        parts = [reduce_by_key(*part, combiner) for part in parts]
    return reduce_by_key(*mapreduce.exchange(comm, parts), reducer)
