# task: reduce
# loses: reduce-order-check
# hint: write into x
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    mine = x.copy()
    total = None
    for source in range(comm.size):
        term = mine if source == root else comm.recv(x, source=source).copy()
        total = term if total is None else op(total, term)
    return total
