# task: average-gradient
# loses: average-gradient-check
# hint: -32 is the sum over all rows
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    return all_reduce(comm, len(y) * gradient(theta, X, y))
