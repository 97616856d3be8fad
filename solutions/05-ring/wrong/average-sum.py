# task: average
# loses: average-check
# hint: did not weigh or divide
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    return unflatten(all_reduce(comm, flatten(gradients)), gradients)
