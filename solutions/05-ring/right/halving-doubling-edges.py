# task: halving-doubling
def halving_doubling(comm, x, distances):
    total = x.copy()
    low, high, done = 0, len(total), []
    for distance in distances:
        partner, middle = comm.rank ^ distance, (low + high + 1) // 2
        kept, given = ((low, middle), (middle, high)) if comm.rank & distance == 0 else ((middle, high), (low, middle))
        received = np.empty_like(total[slice(*kept)])
        comm.sendrecv(total[slice(*given)], partner, recvbuf=received, source=partner)
        add(comm, total[slice(*kept)], received)
        done.append((partner, slice(*kept), slice(*given)))
        low, high = kept
    while done:
        partner, kept, given = done.pop()
        comm.sendrecv(total[kept], partner, recvbuf=total[given], source=partner)
    return total
