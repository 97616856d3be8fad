# task: ring
# loses: ring-check, ring-whole-check, ring-engines-check
# hint: every rank has 1111 2222 3333 4444
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    total = room_for(x)
    total[...] = x
    all_gather(comm, total)
    return reduce_scatter(comm, total)
