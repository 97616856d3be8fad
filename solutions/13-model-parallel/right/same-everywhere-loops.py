# task: same-everywhere
def largest_difference(comm, x):
    worst, flat = 0.0, x.ravel()
    everything = parallel.all_gather(comm, flat, flat.size * comm.size)
    for rank in range(comm.size):
        for i in range(flat.size):
            worst = max(worst, abs(everything[rank * flat.size + i] - everything[i]))
    return worst
