# task: reduce
# loses: reduce-check, reduce-order-check
# hint: with root=2 rank 2 returned None
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != 0:
        comm.send(x, dest=0)
        return None
    total = None
    for source in range(comm.size):
        term = x if source == 0 else comm.recv(np.empty_like(x), source=source)
        total = term if total is None else op(total, term)
    return total
