# task: same-everywhere
# loses: same-everywhere-check
# hint: is a sum of differences
def largest_difference(comm, x):
    everything = parallel.all_gather(comm, x, x.size * comm.size).reshape(comm.size, -1)
    return float(np.abs(everything - everything[0]).sum())
