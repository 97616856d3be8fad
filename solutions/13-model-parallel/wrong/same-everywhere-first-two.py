# task: same-everywhere
# loses: same-everywhere-check
# hint: look at all ranks
def largest_difference(comm, x):
    everything = parallel.all_gather(comm, x, x.size * comm.size).reshape(comm.size, -1)
    return float(np.abs(everything[1] - everything[0]).max()) if comm.size > 1 else 0.0
