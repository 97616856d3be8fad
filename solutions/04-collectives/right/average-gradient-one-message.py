# task: average-gradient
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    both = all_reduce(comm, np.append(len(y) * gradient(theta, X, y), len(y)))
    return both[:-1] / both[-1]
