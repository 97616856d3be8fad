# task: hand-over
# loses: hand-over-check
# hint: Send a copy
def hand_over(comm, x, dest, tag):
    return comm.isend(x, dest, tag)
