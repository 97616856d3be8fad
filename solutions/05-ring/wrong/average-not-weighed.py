# task: average
# loses: average-check
# hint: multiply by rows first
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    total = all_reduce(comm, flatten([*gradients, np.array([rows])]))
    return unflatten(total[:-1] / total[-1], gradients)
