# task: average
# loses: average-uneven-check
# hint: mean of the two ranks' means
def average(comm, gradients):
    return all_reduce(comm, gradients.mean(axis=0)) / comm.size
