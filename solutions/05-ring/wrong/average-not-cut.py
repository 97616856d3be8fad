# task: average
# loses: average-check
# hint: Use unflatten
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    total = all_reduce(comm, flatten([rows * gradient for gradient in gradients] + [np.array([rows])]))
    return total[:-1] / total[-1]
