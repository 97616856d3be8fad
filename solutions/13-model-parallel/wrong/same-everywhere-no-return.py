# task: same-everywhere
# loses: same-everywhere-check
# hint: largest_difference returned None
def largest_difference(comm, x):
    everything = parallel.all_gather(comm, x, x.size * comm.size).reshape(comm.size, -1)
    difference = float(np.abs(everything - everything[0]).max())
