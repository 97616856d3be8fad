# task: hand-over
def hand_over(comm, x, dest, tag):
    kept = np.empty_like(x)
    kept[...] = x
    return comm.isend(kept, dest, tag)
