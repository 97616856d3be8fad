# task: in-order
# loses: in-order-check, in-order-engines-check
# hint: no message was sent
def in_order(comm):
    said = np.full(comm.size, -1)
    print("my number is", comm.rank)
    said[comm.rank] = comm.rank
    return said
