# task: exchange
# loses: exchange-check
# hint: Rank 2 waits for a message from rank 0, which has returned
def exchange(comm, gradient, servers):
    W = np.empty_like(gradient)
    requests = []
    for server, (mine, room) in enumerate(
        zip(np.array_split(gradient, servers), np.array_split(W, servers), strict=True)
    ):
        requests += [comm.irecv(room, source=0), comm.isend(mine, dest=0)]
    comm.waitall(requests)
    return W
