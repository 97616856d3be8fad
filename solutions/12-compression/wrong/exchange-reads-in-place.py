# task: exchange
# loses: exchange-check
# hint: changes `message`
def exchange(comm, message, read):
    status, messages = Status(), {comm.rank: message}
    requests = [comm.isend(message, (comm.rank + distance) % comm.size) for distance in range(1, comm.size)]
    for distance in range(1, comm.size):
        source = (comm.rank - distance) % comm.size
        comm.probe(source=source, status=status)
        messages[source] = comm.recv(np.empty(status.count, message.dtype), source=source)
    comm.waitall(requests)
    total = messages[0].view(np.float32) if read is read_floats else read(messages[0])
    for rank in range(1, comm.size):
        total += read(messages[rank])
    return total / np.float32(comm.size)
