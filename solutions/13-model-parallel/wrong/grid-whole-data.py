# task: grid
# loses: grid-check
# hint: `data` has all 8 ranks
def grid(comm, D, T, P):
    delta, rest = divmod(comm.rank, T * P)
    tau, pi = divmod(rest, P)
    data = comm.split(color=rest, key=delta)
    tensor = comm.split(color=delta * P + pi, key=tau)
    pipe = comm.split(color=delta * T + tau, key=pi)
    return comm, tensor, pipe
