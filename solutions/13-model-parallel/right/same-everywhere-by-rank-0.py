# task: same-everywhere
def largest_difference(comm, x):
    first = parallel.all_reduce(comm, x if comm.rank == 0 else np.zeros_like(x))
    own = np.zeros(comm.size)
    own[comm.rank] = np.abs(x - first).max()
    return float(parallel.all_reduce(comm, own).max())
