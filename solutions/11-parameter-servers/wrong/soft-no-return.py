# task: soft
# loses: soft-check
# hint: serve_softly returned None
def serve_softly(comm, W, rate, updates, S):
    workers, status = range(1, comm.size), Status()
    gradient, total = np.empty_like(W), np.zeros_like(W)
    given, pushes, version = dict.fromkeys(workers, 0), [], 0
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    while version < updates:
        comm.recv(gradient, status=status)
        pushes.append((status.source, version - given[status.source]))
        total += gradient
        if len(pushes) % S == 0:
            W = W - rate / S * total
            total[...] = 0
            version += 1
        given[status.source] = version
        comm.send(W, dest=status.source, tag=GO_ON)
    for _ in workers:
        comm.recv(gradient, status=status)
        comm.send(W, dest=status.source, tag=STOP)
