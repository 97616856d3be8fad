# task: all-to-all
# loses: all-to-all-check
# hint: all send and none of them receives
def all_to_all(comm, x):
    got = np.zeros_like(x)
    got[comm.rank] = x[comm.rank]
    for distance in range(1, comm.size):
        right, left = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        comm.send(x[right], dest=right)
        comm.recv(got[left], source=left)
    return got
