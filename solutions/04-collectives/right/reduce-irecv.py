# task: reduce
def reduce(comm, x, op=np.add, root=0):
    if comm.rank == root:
        terms = [x if r == root else np.empty_like(x) for r in range(comm.size)]
        requests = [comm.irecv(terms[r], source=r) for r in range(comm.size) if r != root]
        for request in requests:
            request.wait()
        total = terms[0]
        for term in terms[1:]:
            total = op(total, term)
        return total
    comm.send(x, dest=root)
    return None
