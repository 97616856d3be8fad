# task: average-gradient
# loses: average-gradient-check
# hint: leave it in float64
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    total = all_reduce(comm, (len(y) * gradient(theta, X, y)).astype(np.float32))
    rows = all_reduce(comm, np.array([len(y)], dtype=np.float32))
    return total / rows
