# task: exchange
def exchange(comm, gradient, servers):
    W = np.empty_like(gradient)
    rooms = np.array_split(W, servers)
    coming = [comm.irecv(room, source=k) for k, room in enumerate(rooms)]
    leaving = [comm.isend(part, dest=k) for k, part in enumerate(np.array_split(gradient, servers))]
    for request in leaving + coming:
        request.wait()
    return W
