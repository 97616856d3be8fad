# task: average
# loses: average-check
# hint: you took the plain mean
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    total = all_reduce(comm, flatten(gradients))
    return unflatten(total / comm.size, gradients)
