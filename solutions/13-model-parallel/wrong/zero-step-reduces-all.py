# task: zero-step
# loses: zero-step-check
# hint: one reduce-scatter and one all-gather
def zero_step(comm, w, g, m, v, t):
    mine = parallel.cut(len(w), comm.size)[comm.rank]
    average = parallel.all_reduce(comm, g)[mine] / comm.size
    own, m, v = parallel.adam(w[mine], average, m, v, t)
    return parallel.all_gather(comm, own, len(w)), m, v
