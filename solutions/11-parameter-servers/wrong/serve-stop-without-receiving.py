# task: serve
# loses: serve-check
# hint: line 14 of `serve`
def serve(comm, W, rate, updates):
    workers, status = range(1, comm.size), Status()
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
        comm.send(W, dest=_, tag=STOP)
    return W, pushes
