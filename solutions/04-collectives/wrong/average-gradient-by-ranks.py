# task: average-gradient
# loses: average-gradient-check
# hint: you divided by the number of ranks
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    return all_reduce(comm, len(y) * gradient(theta, X, y)) / comm.size
