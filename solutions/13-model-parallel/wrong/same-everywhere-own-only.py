# task: same-everywhere
# loses: same-everywhere-check
# hint: all return the largest
def largest_difference(comm, x):
    everything = parallel.all_gather(comm, x, x.size * comm.size).reshape(comm.size, -1)
    return float(np.abs(x.reshape(-1) - everything[0]).max())
