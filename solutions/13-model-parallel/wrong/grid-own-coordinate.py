# task: grid
# loses: grid-check
# hint: Its color is what its ranks have in common
def grid(comm, D, T, P):
    delta, rest = divmod(comm.rank, T * P)
    tau, pi = divmod(rest, P)
    data = comm.split(color=delta, key=delta)
    tensor = comm.split(color=tau, key=tau)
    pipe = comm.split(color=pi, key=pi)
    return data, tensor, pipe
