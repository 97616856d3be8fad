# task: ring
# loses: ring-whole-check, ring-engines-check
# hint: the whole array went round
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    total, passing = room_for(x), room_for(x)
    total[...], passing[...] = x, x
    for _ in range(comm.size - 1):
        passing = comm.sendrecv(passing, dest=right, recvbuf=room_for(x), source=left)
        add(comm, total, passing)
    return total
