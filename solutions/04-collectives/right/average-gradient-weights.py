# task: average-gradient
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    rows = all_reduce(comm, np.array([len(y)]))[0]
    return all_reduce(comm, len(y) / rows * gradient(theta, X, y))
