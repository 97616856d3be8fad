# task: ring
# loses: ring-check
# hint: returns `x` itself
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    if comm.size == 1:
        return x
    total = room_for(x)
    total[...] = x
    reduce_scatter(comm, total)
    return all_gather(comm, total)
