# task: ring-mean
# loses: ring-mean-check
# hint: ranks: the mean is
def ring_mean(comm, g, residual):
    """(the mean over all ranks of g, residual): float32, the same bits on all ranks, by one ring all-reduce.

    g: this rank's gradient, float32, shape (P,). residual: returned as it came.
    """
    mine = parallel.reduce_scatter(comm, g) / comm.size
    mean = np.zeros_like(g)
    mean[parallel.cut(len(g), comm.size)[comm.rank]] = mine
    return mean, residual
