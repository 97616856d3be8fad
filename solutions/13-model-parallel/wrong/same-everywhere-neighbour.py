# task: same-everywhere
# loses: same-everywhere-check
# hint: all return the largest
def largest_difference(comm, x):
    got = np.empty_like(x)
    comm.sendrecv(x, (comm.rank + 1) % comm.size, recvbuf=got, source=(comm.rank - 1) % comm.size)
    return float(np.abs(x - got).max())
