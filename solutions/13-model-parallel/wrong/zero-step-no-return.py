# task: zero-step
# loses: zero-step-check
# hint: zero_step returned None
def zero_step(comm, w, g, m, v, t):
    mine = parallel.cut(len(w), comm.size)[comm.rank]
    average = parallel.reduce_scatter(comm, g) / comm.size
    own, m, v = parallel.adam(w[mine], average, m, v, t)
