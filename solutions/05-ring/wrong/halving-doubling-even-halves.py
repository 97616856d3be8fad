# task: halving-doubling
# loses: halving-doubling-uneven-check
# hint: were in neither half
def halving_doubling(comm, x, distances):
    total = room_for(x)
    total[...] = x
    piece, rounds = total, []
    for distance in distances:
        partner = comm.rank ^ distance
        middle = len(piece) // 2
        first, second = piece[:middle], piece[middle : 2 * middle]
        mine, other = (first, second) if comm.rank & distance == 0 else (second, first)
        add(comm, mine, comm.sendrecv(other, dest=partner, recvbuf=room_for(mine), source=partner))
        rounds.append((partner, mine, other))
        piece = mine
    for partner, mine, other in reversed(rounds):
        comm.sendrecv(mine, dest=partner, recvbuf=other, source=partner)
    return total
