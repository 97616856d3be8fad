# task: average
# loses: average-check
# hint: you divided twice
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    flat = flatten([rows * gradient for gradient in gradients] + [np.array([rows])])
    total = all_reduce(comm, flat) / comm.size
    return unflatten(total[:-1] / total[-1] / comm.size, gradients)
