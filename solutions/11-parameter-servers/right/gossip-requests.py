# task: gossip
def gossip(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    from_left, from_right = np.empty_like(x), np.empty_like(x)
    comm.waitall(
        [
            comm.irecv(from_left, source=left, tag=1),
            comm.irecv(from_right, source=right, tag=2),
            comm.isend(x, dest=right, tag=1),
            comm.isend(x, dest=left, tag=2),
        ]
    )
    return x / 3 + from_left / 3 + from_right / 3


def contraction(N):
    return (1 + 2 * np.cos(2 * np.pi / N)) / 3
