# task: in-order
# loses: in-order-check, in-order-engines-check
# hint: no rank sent a message. Send the list
def in_order(comm):
    spoken = np.full(comm.size, -1)
    print("my number is", comm.rank)
    spoken[comm.rank] = comm.rank
    return spoken
