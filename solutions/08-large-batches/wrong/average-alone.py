# task: average
# loses: average-check, average-uneven-check
# hint: each rank has its own average
def average(comm, gradients):
    return gradients.mean(axis=0)
