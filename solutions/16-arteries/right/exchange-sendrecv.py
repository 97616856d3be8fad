# task: exchange
def exchange(comm, outgoing, meet):
    if comm.rank:
        incoming = np.empty_like(outgoing)
        comm.sendrecv(outgoing, 0, recvbuf=incoming, source=0)
        return incoming
    everyone = [outgoing.copy() for _ in range(comm.size)]
    for rank in reversed(range(1, comm.size)):
        comm.recv(everyone[rank], rank)
    back = meet(everyone)
    for rank in reversed(range(1, comm.size)):
        comm.send(np.ascontiguousarray(back[rank]), rank)
    return back[0].copy()
