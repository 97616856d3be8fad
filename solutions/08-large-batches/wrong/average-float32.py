# task: average
# loses: average-uneven-check
# hint: Compute in float64
def average(comm, gradients):
    total = all_reduce(comm, gradients.sum(axis=0, dtype=np.float32))
    return total / all_reduce(comm, np.array([len(gradients)]))
