# task: gossip
def gossip(comm, x):
    rooms = []
    for step in (1, -1):
        room = np.empty_like(x)
        rooms.append(
            comm.sendrecv(x, (comm.rank + step) % comm.size, recvbuf=room, source=(comm.rank - step) % comm.size)
        )
    return np.mean([x, *rooms], axis=0)


def contraction(N):
    around = np.cos(2 * np.pi * np.arange(N) / N)
    return (around[0] + around[1] + around[-1]) / 3
