# task: halving-doubling
def halving_doubling(comm, x, distances):
    def sum_up(piece, distances):
        if not distances:
            return
        partner, halves = comm.rank ^ distances[0], np.array_split(piece, 2)
        mine = halves.pop(0 if comm.rank & distances[0] == 0 else 1)
        requests = [comm.irecv(room_for(mine), source=partner), comm.isend(halves[0], dest=partner)]
        add(comm, mine, requests[0].wait())
        requests[1].wait()
        sum_up(mine, distances[1:])
        comm.sendrecv(mine, dest=partner, recvbuf=halves[0], source=partner)

    total = room_for(x)
    total[...] = x
    sum_up(total, list(distances))
    return total
