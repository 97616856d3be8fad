# task: average
# loses: average-check, average-uneven-check
# hint: gave back nothing
def average(comm, gradients):
    total = all_reduce(comm, gradients.sum(axis=0)) / all_reduce(comm, np.array([len(gradients)]))
