# task: average
# loses: average-check
# hint: no message was sent
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    flat = flatten([rows * gradient for gradient in gradients] + [np.array([rows])])
    return unflatten(flat[:-1] / flat[-1], gradients)
