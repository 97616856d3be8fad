# task: work
# loses: work-check
# hint: the worker pushes weights
def work(comm, W, gradient):
    status, pushed = Status(), 0
    comm.recv(W, source=0, status=status)
    while status.tag == GO_ON:
        gradient(W)
        comm.send(W, dest=0)
        pushed += 1
        comm.recv(W, source=0, status=status)
    return pushed
