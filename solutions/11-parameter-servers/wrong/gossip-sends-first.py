# task: gossip
# loses: gossip-check
# hint: Ranks 0, 1, 2, 3 and 4 all send
def gossip(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    from_left, from_right = np.empty_like(x), np.empty_like(x)
    comm.send(x, dest=right)
    comm.send(x, dest=left)
    comm.recv(from_left, source=left)
    comm.recv(from_right, source=right)
    return (from_left + x + from_right) / 3


def contraction(N):
    return 1 / 3 + 2 / 3 * np.cos(2 * np.pi / N)
