# task: reduce
# loses: reduce-check, reduce-order-check
# hint: it lacks the array of ranks [0]
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    total = None
    for source in range(comm.size):
        if source != root:
            term = comm.recv(np.empty_like(x), source=source)
            total = term if total is None else op(total, term)
    return total
