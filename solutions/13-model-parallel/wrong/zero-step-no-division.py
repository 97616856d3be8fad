# task: zero-step
# loses: zero-step-check
# hint: as with data parallel Adam
def zero_step(comm, w, g, m, v, t):
    mine = parallel.cut(len(w), comm.size)[comm.rank]
    own, m, v = parallel.adam(w[mine], parallel.reduce_scatter(comm, g) * 1e-7, m, v, t)
    return parallel.all_gather(comm, own, len(w)), m, v
