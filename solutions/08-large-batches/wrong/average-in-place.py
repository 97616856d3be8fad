# task: average
# loses: average-uneven-check
# hint: changes `gradients`
def average(comm, gradients):
    samples = all_reduce(comm, np.array([len(gradients)]))
    gradients /= samples
    return all_reduce(comm, gradients.sum(axis=0))
