# task: exchange
# loses: exchange-check
# hint: when server 0 is late
def exchange(comm, gradient, servers):
    W = np.empty_like(gradient)
    requests = []
    for server, (mine, room) in enumerate(
        zip(np.array_split(gradient, servers), np.array_split(W, servers), strict=True)
    ):
        requests += [comm.irecv(room), comm.isend(mine, dest=server)]
    comm.waitall(requests)
    return W
