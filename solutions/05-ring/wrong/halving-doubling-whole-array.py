# task: halving-doubling
# loses: halving-doubling-check, halving-doubling-uneven-check
# hint: sent the whole array in each round
def halving_doubling(comm, x, distances):
    total = room_for(x)
    total[...] = x
    received = room_for(x)
    for distance in distances:
        partner = comm.rank ^ distance
        comm.sendrecv(total, dest=partner, recvbuf=received, source=partner)
        add(comm, total, received)
    return total
