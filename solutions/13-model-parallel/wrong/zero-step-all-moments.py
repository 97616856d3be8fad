# task: zero-step
# loses: zero-step-check
# hint: the moments have 7 numbers on each rank
def zero_step(comm, w, g, m, v, t):
    average = parallel.all_reduce(comm, g) / comm.size
    full_m, full_v = np.zeros((2, len(w)))
    return parallel.adam(w, average, full_m, full_v, t)
