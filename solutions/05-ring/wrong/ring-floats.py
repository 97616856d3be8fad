# task: ring
# loses: ring-check, ring-whole-check
# hint: the sum has the dtype
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    total = np.array(x, dtype=float)
    reduce_scatter(comm, total)
    return all_gather(comm, total)
