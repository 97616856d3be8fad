# task: reduce
# loses: reduce-order-check
# hint: you computed x(1) · x(0)
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    total = None
    for source in range(comm.size):
        term = x if source == root else comm.recv(np.empty_like(x), source=source)
        total = term if total is None else op(term, total)
    return total
