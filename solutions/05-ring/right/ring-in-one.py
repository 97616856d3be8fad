# task: ring
def ring_allreduce(comm, x, reduce_scatter=ring_reduce_scatter, all_gather=ring_all_gather):
    N, rank = comm.size, comm.rank
    total = np.array(x)
    chunks = np.array_split(total, N)
    for step in range(2 * (N - 1)):
        sent, mine = chunks[(rank - step) % N], chunks[(rank - step - 1) % N]
        received = comm.sendrecv(sent, dest=(rank + 1) % N, recvbuf=room_for(mine), source=(rank - 1) % N)
        if step < N - 1:
            mine += received
        else:
            mine[...] = received
    return total
