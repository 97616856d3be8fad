# task: average
# loses: average-check
# hint: you did not divide
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    flat = flatten([rows * gradient for gradient in gradients] + [np.array([rows])])
    return unflatten(all_reduce(comm, flat)[:-1], gradients)
