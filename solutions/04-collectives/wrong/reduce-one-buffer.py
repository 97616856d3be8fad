# task: reduce
# loses: reduce-check, reduce-order-check
# hint: Does every recv write into the same array
def reduce(comm, x, op=np.add, root=0):
    if comm.rank != root:
        comm.send(x, dest=root)
        return None
    buffer = np.empty_like(x)
    parts = [x if source == root else comm.recv(buffer, source=source) for source in range(comm.size)]
    total = parts[0]
    for part in parts[1:]:
        total = op(total, part)
    return total
