# task: average-gradient
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    packed = np.empty(len(theta) + 1)
    packed[0], packed[1:] = len(y), len(y) * gradient(theta, X, y)
    total = all_reduce(comm, packed)
    return total[1:] / total[0]
