# task: reduce
import functools


def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        return comm.send(x, root)
    terms = [x.copy() if r == root else comm.recv(x.copy(), r) for r in range(comm.size)]
    return functools.reduce(op, terms)
