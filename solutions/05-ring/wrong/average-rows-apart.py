# task: average
# loses: average-check
# hint: all_reduce was called 2 times
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    all_rows = all_reduce(comm, np.array([float(rows)]))
    total = all_reduce(comm, flatten([rows * gradient for gradient in gradients]))
    return unflatten(total / all_rows, gradients)
