# task: halving-doubling
# loses: halving-doubling-check, halving-doubling-uneven-check
# hint: The partner is comm.rank ^ distance
def halving_doubling(comm, x, distances):
    total = room_for(x)
    total[...] = x
    piece, rounds = total, []
    for distance in distances:
        to, source = (comm.rank + distance) % comm.size, (comm.rank - distance) % comm.size
        first, second = np.array_split(piece, 2)
        mine, other = (first, second) if comm.rank & distance == 0 else (second, first)
        add(comm, mine, comm.sendrecv(other, dest=to, recvbuf=room_for(mine), source=source))
        rounds.append((to, source, mine, other))
        piece = mine
    for to, source, mine, other in reversed(rounds):
        comm.sendrecv(mine, dest=to, recvbuf=other, source=source)
    return total
