# task: all-to-all
# loses: all-to-all-check
# hint: all_to_all receives into `got`
def all_to_all(comm, x):
    for distance in range(1, comm.size):
        right, left = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        comm.sendrecv(x[right], dest=right, recvbuf=x[left], source=left)
    return x.copy()
