# task: all-to-all
# loses: all-to-all-check
# hint: That is an all-gather; send row d to rank d
def all_to_all(comm, x):
    got = np.zeros_like(x)
    got[comm.rank] = x[comm.rank]
    for distance in range(1, comm.size):
        right, left = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        comm.sendrecv(x[comm.rank], dest=right, recvbuf=got[left], source=left)
    return got
