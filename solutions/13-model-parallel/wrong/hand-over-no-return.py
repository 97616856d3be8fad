# task: hand-over
# loses: hand-over-check
# hint: return the request of isend
def hand_over(comm, x, dest, tag):
    request = comm.isend(x.copy(), dest, tag)
