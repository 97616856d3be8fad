# task: same-everywhere
# loses: same-everywhere-check
# hint: take the absolute value
def largest_difference(comm, x):
    everything = parallel.all_gather(comm, x, x.size * comm.size).reshape(comm.size, -1)
    return float((everything[0] - everything).max())
