# task: exchange
def exchange(comm, gradient, servers):
    parts = np.array_split(gradient, servers)
    rooms = [np.empty_like(part) for part in parts]
    comm.waitall(
        [comm.isend(parts[k], dest=k) for k in range(servers)]
        + [comm.irecv(rooms[k], source=k) for k in range(servers)]
    )
    return np.concatenate(rooms)
