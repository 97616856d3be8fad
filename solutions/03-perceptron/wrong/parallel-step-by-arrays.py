# task: parallel-step
# loses: parallel-step-one-message-check
# hint: makes three all-reduces
def parallel_step(comm, X, y, weights, gamma, gradient, all_reduce):
    return step_by_arrays(comm, X, y, weights, gamma, gradient, all_reduce)
