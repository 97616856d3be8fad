# task: ring
# loses: ring-check
# hint: Both halves change what they are given
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    reduce_scatter(comm, x)
    return all_gather(comm, x)
