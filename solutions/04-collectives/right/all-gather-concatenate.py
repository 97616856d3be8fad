# task: all-gather
def all_gather(comm, part, whole, broadcast=broadcast_tree):
    parts = [np.empty_like(piece) for piece in np.array_split(whole, comm.size)]
    parts[comm.rank] = part
    return np.concatenate([broadcast(comm, parts[r], r) for r in range(comm.size)])
