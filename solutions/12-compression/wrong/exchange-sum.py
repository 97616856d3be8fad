# task: exchange
# loses: exchange-check, exchange-order-check
# hint: the result is the sum. Divide
def exchange(comm, message, read):
    status, messages = Status(), {comm.rank: message}
    requests = [comm.isend(message, (comm.rank + distance) % comm.size) for distance in range(1, comm.size)]
    for distance in range(1, comm.size):
        source = (comm.rank - distance) % comm.size
        comm.probe(source=source, status=status)
        messages[source] = comm.recv(np.empty(status.count, message.dtype), source=source)
    comm.waitall(requests)
    return sum(read(messages[rank]) for rank in range(comm.size))
