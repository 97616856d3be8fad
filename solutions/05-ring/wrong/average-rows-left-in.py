# task: average
# loses: average-check
# hint: flat has 4 entries, and the arrays have 3 together
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    total = all_reduce(comm, flatten([rows * gradient for gradient in gradients] + [np.array([rows])]))
    return unflatten(total / total[-1], gradients)
