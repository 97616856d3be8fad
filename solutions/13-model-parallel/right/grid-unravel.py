# task: grid
def grid(comm, D, T, P):
    delta, tau, pi = (int(each) for each in np.unravel_index(comm.rank, (D, T, P)))
    colors = [(tau * P + pi, delta), (delta * P + pi, tau), (delta * T + tau, pi)]
    return tuple(comm.split(color=color, key=key) for color, key in colors)
