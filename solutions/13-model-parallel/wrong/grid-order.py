# task: grid
# loses: grid-check
# hint: group `data` should have the ranks
def grid(comm, D, T, P):
    delta, rest = divmod(comm.rank, T * P)
    tau, pi = divmod(rest, P)
    data = comm.split(color=rest, key=delta)
    tensor = comm.split(color=delta * P + pi, key=tau)
    pipe = comm.split(color=delta * T + tau, key=pi)
    return pipe, tensor, data
