# task: hand-over
# loses: hand-over-check
# hint: The tags differ
def hand_over(comm, x, dest, tag):
    return comm.isend(x.copy(), dest)
