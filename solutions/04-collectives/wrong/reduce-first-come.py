# task: reduce
# loses: reduce-order-check
# hint: when a message is late, the arrays are combined
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    terms = {root: x}
    for source in range(comm.size):
        if source != root:
            terms[source] = comm.recv(np.empty_like(x))
    total = terms[0]
    for source in range(1, comm.size):
        total = op(total, terms[source])
    return total
