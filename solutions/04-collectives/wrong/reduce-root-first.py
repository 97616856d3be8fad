# task: reduce
# loses: reduce-order-check
# hint: The order is that of ranks, whichever rank is the root
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    total = x
    for source in range(comm.size):
        if source != root:
            total = op(total, comm.recv(np.empty_like(x), source=source))
    return total
