# task: exchange
# loses: exchange-check
# hint: each server is waited for
def exchange(comm, gradient, servers):
    W = np.empty_like(gradient)
    for server, (mine, room) in enumerate(
        zip(np.array_split(gradient, servers), np.array_split(W, servers), strict=True)
    ):
        comm.send(mine, dest=server)
        comm.recv(room, source=server)
    return W
