# task: hand-over
# loses: hand-over-check
# hint: Begin to send with comm.isend
def hand_over(comm, x, dest, tag):
    request = comm.isend(x.copy(), dest, tag)
    request.wait()
    return request
