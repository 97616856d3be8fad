# task: average-gradient
# loses: average-gradient-check
# hint: -24 is the sum of the ranks' averages
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    return all_reduce(comm, gradient(theta, X, y))
