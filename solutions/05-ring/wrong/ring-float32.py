# task: ring
# loses: ring-check, ring-whole-check, ring-engines-check
# hint: lost digits on their way
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    total = x.astype(np.float32)
    reduce_scatter(comm, total)
    return all_gather(comm, total).astype(x.dtype)
