# task: average-gradient
# loses: average-gradient-check
# hint: X or y of a rank is no longer what it was
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    y -= X @ theta
    y *= -2
    total = all_reduce(comm, X.T @ y)
    return total / all_reduce(comm, np.array([len(y)]))
