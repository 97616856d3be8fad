# task: same-everywhere
# loses: same-everywhere-check
# hint: and no other difference is larger
def largest_difference(comm, x):
    everything = parallel.all_gather(comm, x, x.size * comm.size).reshape(comm.size, -1)
    return float(np.abs(everything - everything[0]).max(axis=1).mean())
