# task: serve
# loses: serve-check
# hint: from W = (3, 1)
def serve(comm, W, rate, updates):
    """The server: returns (W, pushes), with pushes a list of (worker, staleness), one for each update.

    W: the first weights, which you may overwrite. updates: how many gradients to use, one per update.
    """
    workers, status = range(1, comm.size), Status()
    W = np.zeros_like(W)
    gradient = np.empty_like(W)
    given, pushes = dict.fromkeys(workers, 0), []
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    for version in range(updates):
        comm.recv(gradient, status=status)
        pushes.append((status.source, version - given[status.source]))
        W = W - rate * gradient
        given[status.source] = version + 1
        comm.send(W, dest=status.source, tag=GO_ON)
    for _ in workers:
        comm.recv(gradient, status=status)
        comm.send(W, dest=status.source, tag=STOP)
    return W, pushes
