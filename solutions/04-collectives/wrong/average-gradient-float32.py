# task: average-gradient
# loses: average-gradient-check
# hint: leave it in float64, or it keeps
def average_gradient(comm, X, y, theta, all_reduce=all_reduce):
    both = all_reduce(comm, np.append(len(y) * gradient(theta, X, y), len(y)).astype(np.float32))
    return both[:-1] / both[-1]
