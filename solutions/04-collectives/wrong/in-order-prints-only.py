# task: in-order
# loses: in-order-check, in-order-engines-check
# hint: `return said`
def in_order(comm):
    said = np.full(comm.size, -1)
    if comm.rank > 0:
        comm.recv(said, source=comm.rank - 1)
    print("my number is", comm.rank)
    said[comm.rank] = comm.rank
    if comm.rank < comm.size - 1:
        comm.send(said, dest=comm.rank + 1)
