# task: in-order
# loses: in-order-check, in-order-engines-check
# hint: there is no such rank
def in_order(comm):
    spoken = np.full(comm.size, -1)
    if comm.rank > 0:
        comm.recv(spoken, source=comm.rank - 1)
    print("my number is", comm.rank)
    spoken[comm.rank] = comm.rank
    comm.send(spoken, dest=comm.rank + 1)
    return spoken
