# task: grid
def grid(comm, D, T, P):
    r = comm.rank
    delta, tau, pi = r // (T * P), r // P % T, r % P
    return (
        comm.split(tau + 1000 * pi, r),
        comm.split(delta + 1000 * pi, r),
        comm.split(delta + 1000 * tau, r),
    )
