# task: average
# loses: average-check
# hint: returned float32
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    flat = flatten([rows * gradient for gradient in gradients] + [np.array([rows])]).astype(np.float32)
    total = all_reduce(comm, flat)
    return unflatten(total[:-1] / total[-1], gradients)
