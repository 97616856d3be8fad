# task: grid
# loses: grid-check
# hint: group `data` should have the ranks
def grid(comm, D, T, P):
    pi, rest = divmod(comm.rank, D * T)
    delta, tau = divmod(rest, T)
    data = comm.split(color=tau * P + pi, key=delta)
    tensor = comm.split(color=delta * P + pi, key=tau)
    pipe = comm.split(color=delta * T + tau, key=pi)
    return data, tensor, pipe
