# task: backup
# loses: backup-check
# hint: ranks 1 and 2 have returned and rank 3 waits too
def serve_rounds(comm, W, rate, rounds, take):
    workers, status = range(1, comm.size), Status()
    gradient, total = np.empty_like(W), np.zeros_like(W)
    given, dropped, ready, now = dict.fromkeys(workers, 0), [], [], 0
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    while now < rounds:
        comm.recv(gradient, status=status)
        if given[status.source] < now:
            dropped.append(status.source)
            given[status.source] = now
            continue
        total += gradient
        ready.append(status.source)
        if len(ready) == take:
            W = W - rate / take * total
            now += 1
            for worker in ready:
                given[worker] = now
                comm.send(W, dest=worker, tag=GO_ON if now < rounds else STOP)
            total[...], ready = 0, []
    for _ in range(comm.size - 1 - take):
        comm.recv(gradient, status=status)
        comm.send(W, dest=status.source, tag=STOP)
    return W, dropped
