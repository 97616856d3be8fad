# task: average
# loses: average-check
# hint: changes `gradients`
def average_gradients(comm, gradients, rows, all_reduce=ring_allreduce):
    for gradient in gradients:
        gradient *= rows
    total = all_reduce(comm, flatten([*gradients, np.array([rows])]))
    return unflatten(total[:-1] / total[-1], gradients)
