# task: ring
# loses: ring-check, ring-whole-check, ring-engines-check
# hint: returned None
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    total = room_for(x)
    total[...] = x
    reduce_scatter(comm, total)
    all_gather(comm, total)
