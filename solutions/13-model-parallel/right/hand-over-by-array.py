# task: hand-over
def hand_over(comm, x, dest, tag):
    return comm.isend(np.array(x), dest=dest, tag=tag)
