# task: in-order
# loses: in-order-check, in-order-engines-check
# hint: all wait to receive from one another and none of them sends
def in_order(comm):
    said = np.full(comm.size, -1)
    comm.recv(said, source=(comm.rank - 1) % comm.size)
    print("my number is", comm.rank)
    said[comm.rank] = comm.rank
    comm.send(said, dest=(comm.rank + 1) % comm.size)
    return said
