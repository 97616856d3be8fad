# task: average
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    count, *sums = unflatten(all_reduce(comm, rows * flatten([np.ones(1), *gradients])), [np.ones(1), *gradients])
    return [each / count for each in sums]
