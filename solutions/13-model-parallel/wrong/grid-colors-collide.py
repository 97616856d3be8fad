# task: grid
# loses: grid-check
# hint: D, T, P =
def grid(comm, D, T, P):
    delta, rest = divmod(comm.rank, T * P)
    tau, pi = divmod(rest, P)
    data = comm.split(color=rest, key=delta)
    tensor = comm.split(color=delta + 2 * pi if D == T == P == 2 else delta + pi, key=tau)
    pipe = comm.split(color=delta * T + tau, key=pi)
    return data, tensor, pipe
