# task: reduce
# loses: reduce-check
# hint: straight to the root, once
def reduce(comm, x, op=np.add, root=0):
    last, total = comm.size - 1, x
    if comm.rank > 0:
        total = op(comm.recv(np.empty_like(x), source=comm.rank - 1), x)
    if comm.rank < last:
        comm.send(total, dest=comm.rank + 1)
    elif root != last:
        comm.send(total, dest=root)
    if comm.rank != root:
        return None
    return total if root == last else comm.recv(np.empty_like(x), source=last)
