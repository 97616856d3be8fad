# task: soft
def serve_softly(comm, W, rate, updates, S):
    status, gradient = Status(), np.empty_like(W)
    given, pushes = {}, []
    for worker in range(1, comm.size):
        comm.send(W, dest=worker, tag=GO_ON)
    for version in range(updates):
        new = W.copy()
        for k in range(1, S + 1):
            comm.recv(gradient, status=status)
            worker = status.source
            pushes.append((worker, version - given.get(worker, 0)))
            new -= rate * gradient / S
            given[worker] = version + (k == S)
            comm.send(new if k == S else W, dest=worker, tag=GO_ON)
        W = new
    for worker in range(1, comm.size):
        comm.recv(gradient, source=worker)
        comm.send(W, dest=worker, tag=STOP)
    return W, pushes
