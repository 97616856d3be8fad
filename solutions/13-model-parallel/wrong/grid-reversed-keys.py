# task: grid
# loses: grid-check
# hint: see `key`
def grid(comm, D, T, P):
    delta, rest = divmod(comm.rank, T * P)
    tau, pi = divmod(rest, P)
    data = comm.split(color=rest, key=D - delta)
    tensor = comm.split(color=delta * P + pi, key=T - tau)
    pipe = comm.split(color=delta * T + tau, key=P - pi)
    return data, tensor, pipe
