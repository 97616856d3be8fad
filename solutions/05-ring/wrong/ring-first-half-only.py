# task: ring
# loses: ring-check, ring-whole-check, ring-engines-check
# hint: Call all_gather next
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    total = room_for(x)
    total[...] = x
    return reduce_scatter(comm, total)
