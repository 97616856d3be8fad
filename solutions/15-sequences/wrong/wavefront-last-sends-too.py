# task: wavefront
# loses: wavefront-check
# hint: all send and none of them receives
def wavefront(comm, W, U, b, x, chunk):
    """The states h_1, ..., h_T of this rank's layer: shape (T, rows, units). Rank r has layer r of comm.size.

    W, U, b: this rank's layer; all have `units` inputs and units. x: the inputs of rank 0's layer, shape (T, rows,
    units); on other ranks only its shape is used. chunk: steps per chunk. One message per chunk and neighbour.
    """
    h, states = np.zeros_like(x[0]), []
    for begin in range(0, len(x), chunk):
        now = x[begin : begin + chunk]
        if comm.rank > 0:
            now = comm.recv(np.empty_like(now), comm.rank - 1)
        out = sequences.layer(comm, now, W, U, b, h)
        if True:
            comm.send(out, (comm.rank + 1) % comm.size)
        h = out[-1]
        states.append(out)
    return np.concatenate(states)
