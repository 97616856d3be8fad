# task: broadcast-loop
# loses: broadcast-loop-check
# hint: sends all 3 messages itself
def broadcast_loop(comm, x, root=0):
    place = (comm.rank - root) % comm.size
    if place > 0:
        comm.recv(x, source=(comm.rank - 1) % comm.size)
    if place < comm.size - 1:
        comm.send(x, dest=(comm.rank + 1) % comm.size)
    return x
