# task: exchange
# loses: exchange-check
# hint: all ranks return rank 0's array
def exchange(comm, outgoing, meet):
    if comm.rank > 0:
        comm.send(outgoing, 0)
        return comm.recv(np.empty_like(outgoing), 0)
    received = [comm.recv(np.empty_like(outgoing), rank) for rank in range(1, comm.size)]
    incoming = meet([outgoing, *received])
    for rank in range(1, comm.size):
        comm.send(np.array(incoming[0]), rank)
    return np.array(incoming[0])
