# task: average
# loses: average-check, average-uneven-check
# hint: 8 is k times too large
def average(comm, gradients):
    return all_reduce(comm, gradients.mean(axis=0))
