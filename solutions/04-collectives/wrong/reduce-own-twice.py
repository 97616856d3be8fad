# task: reduce
# loses: reduce-check, reduce-order-check
# hint: it has the array of ranks [0] more than once
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    total = x
    for source in range(comm.size):
        term = x if source == root else comm.recv(np.empty_like(x), source=source)
        total = op(total, term)
    return total
