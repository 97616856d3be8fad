# task: halving-doubling
# loses: halving-doubling-check
# hint: Name the source
def halving_doubling(comm, x, distances):
    total = room_for(x)
    total[...] = x
    piece, rounds = total, []
    for distance in distances:
        partner = comm.rank ^ distance
        first, second = np.array_split(piece, 2)
        mine, other = (first, second) if comm.rank & distance == 0 else (second, first)
        add(comm, mine, comm.sendrecv(other, dest=partner, recvbuf=room_for(mine)))
        rounds.append((partner, mine, other))
        piece = mine
    for partner, mine, other in reversed(rounds):
        comm.sendrecv(mine, dest=partner, recvbuf=other)
    return total
