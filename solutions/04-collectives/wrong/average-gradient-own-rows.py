# task: average-gradient
# loses: average-gradient-check
# hint: each rank divided by its own number of rows
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    return all_reduce(comm, len(y) * gradient(theta, X, y)) / len(y)
