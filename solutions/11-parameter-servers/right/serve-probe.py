# task: serve
def serve(comm, W, rate, updates):
    workers, status = range(1, comm.size), Status()
    gradient = np.empty_like(W)
    pushes, seen = [], dict.fromkeys(workers, 0)
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    for version in range(1, updates + 1):
        comm.probe(status=status)
        worker = status.source
        comm.recv(gradient, source=worker)
        W = W - rate * gradient
        pushes.append((worker, version - 1 - seen[worker]))
        seen[worker] = version
        comm.send(W, dest=worker, tag=GO_ON)
    for worker in workers:
        comm.recv(gradient, source=worker)
        comm.send(W, dest=worker, tag=STOP)
    return W, pushes
