# task: in-order
# loses: in-order-check, in-order-engines-check
# hint: each rank has only its own number
def in_order(comm):
    spoken = np.full(comm.size, -1)
    if comm.rank > 0:
        comm.recv(np.empty_like(spoken), source=comm.rank - 1)
    print("my number is", comm.rank)
    spoken[comm.rank] = comm.rank
    if comm.rank < comm.size - 1:
        comm.send(spoken, dest=comm.rank + 1)
    return spoken
