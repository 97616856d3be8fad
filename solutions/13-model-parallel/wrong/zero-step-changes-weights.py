# task: zero-step
# loses: zero-step-check
# hint: changes `w`
def zero_step(comm, w, g, m, v, t):
    mine = parallel.cut(len(w), comm.size)[comm.rank]
    average = parallel.reduce_scatter(comm, g) / comm.size
    w[mine], m, v = parallel.adam(w[mine], average, m, v, t)
    return parallel.all_gather(comm, w[mine], len(w)), m, v
