# task: ring
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    return all_gather(comm, reduce_scatter(comm, x.copy()))
