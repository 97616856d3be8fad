# task: all-to-all
def all_to_all(comm, x):
    got = x.copy()
    for distance in range(1, comm.size):
        dest, source = (comm.rank - distance) % comm.size, (comm.rank + distance) % comm.size
        got[source] = comm.sendrecv(x[dest].copy(), dest=dest, recvbuf=np.empty_like(x[0]), source=source)
    return got
