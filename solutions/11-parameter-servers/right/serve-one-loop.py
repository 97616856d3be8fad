# task: serve
def serve(comm, W, rate, updates):
    workers, status = range(1, comm.size), Status()
    gradient = np.empty_like(W)
    given, pushes, stopped = [0] * comm.size, [], 0
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    while stopped < len(workers):
        comm.recv(gradient, status=status)
        worker, version = status.source, len(pushes)
        if version == updates:
            stopped += 1
            comm.send(W, dest=worker, tag=STOP)
            continue
        pushes.append((worker, version - given[worker]))
        W -= rate * gradient
        given[worker] = len(pushes)
        comm.send(W, dest=worker, tag=GO_ON)
    return W, pushes
