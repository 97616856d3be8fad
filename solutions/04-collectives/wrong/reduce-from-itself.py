# task: reduce
# loses: reduce-check, reduce-order-check
# hint: waits for a message from itself
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    total = x
    for source in range(comm.size):
        total = op(total, comm.recv(np.empty_like(x), source=source))
    return total
