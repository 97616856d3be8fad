# task: average
# loses: average-check, average-uneven-check
# hint: 16 is the sum
def average(comm, gradients):
    return all_reduce(comm, gradients.sum(axis=0))
