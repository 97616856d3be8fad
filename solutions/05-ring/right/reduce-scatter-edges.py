# task: reduce-scatter
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    edges = [k * (len(x) // comm.size) + min(k, len(x) % comm.size) for k in range(comm.size + 1)]
    for step in range(comm.size - 1):
        k, c = (comm.rank - step) % comm.size, (comm.rank - step - 1) % comm.size
        received = np.empty_like(x[edges[c] : edges[c + 1]])
        comm.sendrecv(x[edges[k] : edges[k + 1]].copy(), dest=right, recvbuf=received, source=left)
        x[edges[c] : edges[c + 1]] += received
    return x
