# task: grid
# loses: grid-check
# hint: `data` has all 8 ranks
def grid(comm, D, T, P):
    delta, rest = divmod(comm.rank, T * P)
    tau, pi = divmod(rest, P)
    data = comm.split(color=0, key=delta)
    tensor = comm.split(color=0, key=tau)
    pipe = comm.split(color=0, key=pi)
    return data, tensor, pipe
