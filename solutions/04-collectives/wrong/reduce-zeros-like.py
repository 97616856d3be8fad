# task: reduce
# loses: reduce-order-check
# hint: so you started from zeros
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    total = np.zeros_like(x)
    if op.__name__ in ("product", "matmul"):
        total = np.eye(2, dtype=x.dtype)
    for source in range(comm.size):
        term = x if source == root else comm.recv(np.empty_like(x), source=source)
        total = op(total, term)
    return total
