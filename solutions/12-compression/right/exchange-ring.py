# task: exchange
def exchange(comm, message, read):
    status, right, left = Status(), (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    rows = [None] * comm.size
    rows[comm.rank] = message
    for step in range(comm.size - 1):
        request = comm.isend(rows[(comm.rank - step) % comm.size], right)
        comm.probe(source=left, status=status)
        rows[(left - step) % comm.size] = comm.recv(np.empty(status.count, message.dtype), source=left)
        request.wait()
    total = read(rows[0]).copy()
    for row in rows[1:]:
        total += read(row)
    return total / np.float32(comm.size)
