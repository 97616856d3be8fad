# task: reduce
# loses: reduce-order-check
# hint: you computed x(1) · x(0)
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    total = x
    for source in range(comm.size):
        if source != root:
            total = op(total, comm.recv(np.empty_like(x), source=source))
    return total
