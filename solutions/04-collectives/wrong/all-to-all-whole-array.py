# task: all-to-all
# loses: all-to-all-check
# hint: 8 × int64, and the buffer that receives it is 2 × int64
def all_to_all(comm, x):
    got = np.zeros_like(x)
    got[comm.rank] = x[comm.rank]
    for distance in range(1, comm.size):
        right, left = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        comm.sendrecv(x, dest=right, recvbuf=got[left], source=left)
    return got
