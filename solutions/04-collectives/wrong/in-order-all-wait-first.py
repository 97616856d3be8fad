# task: in-order
# loses: in-order-check, in-order-engines-check
# hint: all wait to receive from one another and none of them sends
def in_order(comm):
    spoken = np.full(comm.size, -1)
    comm.recv(spoken, source=(comm.rank - 1) % comm.size)
    print("my number is", comm.rank)
    spoken[comm.rank] = comm.rank
    comm.send(spoken, dest=(comm.rank + 1) % comm.size)
    return spoken
