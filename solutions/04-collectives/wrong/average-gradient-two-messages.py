# task: average-gradient
# loses: average-gradient-check
# hint: into one array, and call all_reduce once
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    total = all_reduce(comm, len(y) * gradient(theta, X, y))
    return total / all_reduce(comm, np.array([len(y)]))
