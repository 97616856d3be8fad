# task: average
# loses: average-check, average-uneven-check
# hint: divided by k twice
def average(comm, gradients):
    return all_reduce(comm, gradients.mean(axis=0)) / comm.size**2
