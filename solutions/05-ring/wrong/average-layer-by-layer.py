# task: average
# loses: average-check
# hint: all_reduce was called 3 times
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    all_rows = all_reduce(comm, np.array([float(rows)]))
    return [all_reduce(comm, rows * gradient) / all_rows for gradient in gradients]
