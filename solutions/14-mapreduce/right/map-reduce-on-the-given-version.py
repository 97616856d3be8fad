# task: map-reduce
def map_reduce(comm, shard, mapper, reducer, combiner=None, model=None):
    own, values = mapper(shard, model)
    if combiner is not None:
        own, values = mapreduce.reduce_by_key(own, values, combiner)
    to = home(own, comm.size)
    chosen = [to == rank for rank in range(comm.size)]
    arrived = mapreduce.exchange(comm, [(own[here], values[here]) for here in chosen])
    return mapreduce.reduce_by_key(*arrived, reducer)
