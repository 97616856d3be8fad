# task: exchange
# loses: exchange-check
# hint: every rank returns what it sent
def exchange(comm, outgoing, meet):
    if comm.rank > 0:
        comm.send(outgoing, 0)
        comm.recv(np.empty_like(outgoing), 0)
        return outgoing.copy()
    received = [comm.recv(np.empty_like(outgoing), rank) for rank in range(1, comm.size)]
    incoming = meet([outgoing, *received])
    for rank in range(1, comm.size):
        comm.send(np.array(incoming[rank]), rank)
    return outgoing.copy()
