# task: work
# loses: work-check
# hint: rank 0
def work(comm, W, gradient):
    status, pushed = Status(), 0
    while status.tag != STOP:
        comm.send(gradient(W), dest=0)
        pushed += 1
        comm.recv(W, source=0, status=status)
    return pushed
