# task: soft
def serve_softly(comm, W, rate, updates, S):
    workers, status = range(1, comm.size), Status()
    given, pushes, held = [0] * comm.size, [], []
    for worker in workers:
        comm.send(W, dest=worker, tag=GO_ON)
    for i in range(updates * S):
        held.append(comm.recv(np.empty_like(W), status=status))
        pushes.append((status.source, i // S - given[status.source]))
        if len(held) == S:
            W, held = W - rate * np.mean(held, axis=0), []
        given[status.source] = (i + 1) // S
        comm.send(W, dest=status.source, tag=GO_ON)
    for _ in workers:
        comm.recv(np.empty_like(W), status=status)
        comm.send(W, dest=status.source, tag=STOP)
    return W, pushes
