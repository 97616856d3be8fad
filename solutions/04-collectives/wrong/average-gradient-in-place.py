# task: average-gradient
# loses: average-gradient-check
# hint: X or y of a rank has changed
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    y -= X @ theta
    y *= -2
    both = all_reduce(comm, np.append(X.T @ y, len(y)))
    return both[:-1] / both[-1]
