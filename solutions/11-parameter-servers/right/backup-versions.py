# task: backup
def serve_rounds(comm, W, rate, rounds, take):
    status, gradient, total = Status(), np.empty_like(W), np.zeros_like(W)
    version, ready, dropped = [0] * comm.size, [], []
    for worker in range(1, comm.size):
        comm.send(W, dest=worker, tag=GO_ON)
    now, stopped = 0, 0
    while stopped < comm.size - 1:
        comm.recv(gradient, status=status)
        who = status.source
        if now == rounds:
            comm.send(W, dest=who, tag=STOP)
            stopped += 1
        elif version[who] != now:
            dropped.append(who)
            version[who] = now
            comm.send(W, dest=who, tag=GO_ON)
        else:
            total = total + gradient / take
            ready.append(who)
            if len(ready) == take:
                W, total, now = W - rate * total, 0 * total, now + 1
                for each in ready:
                    version[each] = now
                    comm.send(W, dest=each, tag=STOP if now == rounds else GO_ON)
                stopped += take if now == rounds else 0
                ready = []
    return W, dropped
