# task: in-order
# loses: in-order-check, in-order-engines-check
# hint: the dtype differs
def in_order(comm):
    spoken = np.full(comm.size, -1)
    if comm.rank > 0:
        spoken = comm.recv(np.zeros(comm.size), source=comm.rank - 1)
    print("my number is", comm.rank)
    spoken[comm.rank] = comm.rank
    if comm.rank < comm.size - 1:
        comm.send(spoken, dest=comm.rank + 1)
    return spoken
