# task: ring
# loses: ring-check, ring-whole-check, ring-engines-check
# hint: every rank has 1111 2222 3333 4444
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    total = np.zeros_like(x)
    reduce_scatter(comm, total)
    return all_gather(comm, total)
