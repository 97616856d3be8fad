# task: average
# loses: average-check
# hint: you divided by the number of ranks
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    total = all_reduce(comm, flatten([rows * gradient for gradient in gradients]))
    return unflatten(total / comm.size, gradients)
