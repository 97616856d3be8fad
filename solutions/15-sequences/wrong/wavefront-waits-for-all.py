# task: wavefront
# loses: wavefront-check
# hint: the ranks compute one after the other
def wavefront(comm, W, U, b, x, chunk):
    h, states, sent = np.zeros_like(x[0]), [], []
    for begin in range(0, len(x), chunk):
        now = x[begin : begin + chunk]
        if comm.rank > 0:
            now = comm.recv(np.empty_like(now), comm.rank - 1)
        states.append(sequences.layer(comm, now, W, U, b, h))
        h = states[-1][-1]
    if comm.rank < comm.size - 1:
        for out in states:
            comm.send(out, comm.rank + 1)
    return np.concatenate(states)
