# task: zero-step
# loses: zero-step-check
# hint: zero_step returns three arrays
def zero_step(comm, w, g, m, v, t):
    mine = parallel.cut(len(w), comm.size)[comm.rank]
    average = parallel.reduce_scatter(comm, g) / comm.size
    own, m, v = parallel.adam(w[mine], average, m, v, t)
    return [parallel.all_gather(comm, own, len(w))]
