# task: wavefront
# loses: wavefront-check
# hint: the ranks compute one after the other
def wavefront(comm, W, U, b, x, chunk):
    if comm.rank > 0:
        x = x.copy()
        for begin in range(0, len(x), chunk):
            comm.recv(x[begin : begin + chunk], comm.rank - 1)
    out = sequences.layer(comm, x, W, U, b, np.zeros_like(x[0]))
    if comm.rank < comm.size - 1:
        for begin in range(0, len(x), chunk):
            comm.send(out[begin : begin + chunk], comm.rank + 1)
    return out
