# task: exchange
# loses: exchange-check
# hint: which the caller still needs
def exchange(comm, outgoing, meet):
    if comm.rank > 0:
        comm.send(outgoing, 0)
        return comm.recv(outgoing, 0)
    received = [comm.recv(np.empty_like(outgoing), rank) for rank in range(1, comm.size)]
    incoming = meet([outgoing, *received])
    for rank in range(1, comm.size):
        comm.send(np.array(incoming[rank]), rank)
    return np.array(incoming[0])
