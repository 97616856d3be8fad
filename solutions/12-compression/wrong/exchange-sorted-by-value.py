# task: exchange
# loses: exchange-order-check
# hint: Each rank added in another order
def exchange(comm, message, read):
    status, messages = Status(), {comm.rank: message}
    requests = [comm.isend(message, (comm.rank + distance) % comm.size) for distance in range(1, comm.size)]
    for distance in range(1, comm.size):
        source = (comm.rank - distance) % comm.size
        comm.probe(source=source, status=status)
        messages[source] = comm.recv(np.empty(status.count, message.dtype), source=source)
    comm.waitall(requests)
    others = [read(messages[rank]) for rank in range(comm.size) if rank != comm.rank]
    return (read(message) + sum(others)) / np.float32(comm.size)
