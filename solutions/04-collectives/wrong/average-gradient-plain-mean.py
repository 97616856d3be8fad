# task: average-gradient
# loses: average-gradient-check
# hint: -12 is the plain mean
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    return all_reduce(comm, gradient(theta, X, y)) / comm.size
