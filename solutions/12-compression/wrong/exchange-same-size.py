# task: exchange
# loses: exchange-check
# hint: with at least as many elements as were sent
def exchange(comm, message, read):
    status, messages = Status(), {comm.rank: message}
    requests = [comm.isend(message, (comm.rank + distance) % comm.size) for distance in range(1, comm.size)]
    for distance in range(1, comm.size):
        source = (comm.rank - distance) % comm.size
        comm.probe(source=source, status=status)
        messages[source] = comm.recv(np.zeros_like(message), source=source)
    comm.waitall(requests)
    return sum(read(messages[rank]) for rank in range(comm.size)) / np.float32(comm.size)
