# task: all-to-all
# loses: all-to-all-check
# hint: rows land in wrong places
def all_to_all(comm, x):
    got = np.zeros_like(x)
    got[comm.rank] = x[comm.rank]
    for distance in range(1, comm.size):
        right, left = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        comm.sendrecv(x[right], dest=right, recvbuf=got[left])
    return got
