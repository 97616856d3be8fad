# task: exchange
# loses: exchange-check
# hint: without waiting for its irecv
def exchange(comm, gradient, servers):
    W = np.empty_like(gradient)
    requests = []
    for server, (mine, room) in enumerate(
        zip(np.array_split(gradient, servers), np.array_split(W, servers), strict=True)
    ):
        requests += [comm.irecv(room, source=server), comm.isend(mine, dest=server)]
    comm.waitall(requests[1::2])
    return W
