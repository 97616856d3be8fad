# task: ring-mean
def ring_mean(comm, g, residual):
    """(the mean over all ranks of g, residual): float32, the same bits on all ranks, by one ring all-reduce.

    g: this rank's gradient, float32, shape (P,). residual: returned as it came.
    """
    part = parallel.reduce_scatter(comm, g) / np.float32(comm.size)
    return parallel.all_gather(comm, part, len(g)), residual
