# task: zero-step
def zero_step(comm, w, g, m, v, t):
    mine = parallel.cut(len(w), comm.size)[comm.rank]
    total = parallel.reduce_scatter(comm, g)
    part = np.array(w[mine])
    new, new_m, new_v = parallel.adam(part, total / comm.size, m, v, t)
    everything = parallel.all_gather(comm, new, w.size)
    return everything, new_m, new_v
