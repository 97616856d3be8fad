# task: backup
def serve_rounds(comm, W, rate, rounds, take):
    status, dropped = Status(), []
    joined = dict.fromkeys(range(1, comm.size), 0)
    for worker in joined:
        comm.send(W, dest=worker, tag=GO_ON)
    for i in range(rounds):
        held = {}
        while len(held) < take:
            gradient = comm.recv(np.empty_like(W), status=status)
            if joined[status.source] == i:
                held[status.source] = gradient
            else:
                dropped.append(status.source)
                joined[status.source] = i
                comm.send(W, dest=status.source, tag=GO_ON)
        W = W - rate * np.mean(list(held.values()), axis=0)
        for worker in held:
            joined[worker] = i + 1
            comm.send(W, dest=worker, tag=STOP if i == rounds - 1 else GO_ON)
    for worker in set(joined) - set(held):
        comm.recv(np.empty_like(W), source=worker)
        comm.send(W, dest=worker, tag=STOP)
    return W, dropped
