# task: average
# loses: average-uneven-check
# hint: each divides by its own samples
def average(comm, gradients):
    return all_reduce(comm, gradients.sum(axis=0)) / (comm.size * len(gradients))
