# task: zero-step
def zero_step(comm, w, g, m, v, t):
    mine = parallel.cut(len(w), comm.size)[comm.rank]
    average = parallel.reduce_scatter(comm, g) / comm.size
    m, v = 0.9 * m + 0.1 * average, 0.999 * v + 0.001 * average * average
    own = w[mine] - 1e-3 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return parallel.all_gather(comm, own, len(w)), m, v
