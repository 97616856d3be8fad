# task: reduce-scatter
# loses: reduce-scatter-check, reduce-scatter-uneven-check
# hint: each message was the whole array
def ring_reduce_scatter(comm, x):
    right, left = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    received = x.copy()
    total = x.copy()
    for _ in range(comm.size - 1):
        received = comm.sendrecv(received, dest=right, recvbuf=room_for(x), source=left)
        total += received
    x[...] = total
    return x
