# task: exchange
from course.comm import ANY_SOURCE


def exchange(comm, message, read):
    requests = [comm.isend(message, dest) for dest in range(comm.size) if dest != comm.rank]
    numbers, status = {comm.rank: read(message)}, Status()
    while len(numbers) < comm.size:
        comm.probe(source=ANY_SOURCE, status=status)
        received = np.empty(status.count, message.dtype)
        numbers[status.source] = read(comm.recv(received, source=status.source))
    for request in requests:
        request.wait()
    total = np.zeros_like(numbers[0])
    for rank in sorted(numbers):
        total = total + numbers[rank]
    return (total / comm.size).astype(np.float32)
