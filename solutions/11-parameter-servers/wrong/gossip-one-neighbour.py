# task: gossip
# loses: gossip-check
# hint: Each rank has two
def gossip(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    from_left, from_right = np.empty_like(x), np.empty_like(x)
    comm.sendrecv(x, dest=right, recvbuf=from_left, source=left)
    comm.sendrecv(x, dest=left, recvbuf=from_right, source=right)
    return (from_left + x) / 2


def contraction(N):
    return 1 / 3 + 2 / 3 * np.cos(2 * np.pi / N)
