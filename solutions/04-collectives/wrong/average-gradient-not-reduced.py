# task: average-gradient
# loses: average-gradient-check
# hint: each rank returned its own gradient
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    return gradient(theta, X, y)
